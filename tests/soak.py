"""How much to do: a part in `make test`, more of it in CI, all of it in `make soak`."""

import json
import os
from pathlib import Path

import pytest

SOAK = bool(os.environ.get("TAMIS_SOAK"))
CI = bool(os.environ.get("CI"))
RESULTS = Path(__file__).parents[1] / "results"


def count(usual: int, soak: int, ci: int | None = None) -> int:
    """Return the number of cases to run; in CI `usual` too, unless another number is given."""
    if SOAK:
        return soak
    return ci if CI and ci is not None else usual


# For what takes most of a minute, and whose parts other tests have.
only_in_soak = pytest.mark.skipif(not SOAK, reason="it is long: make soak runs it")


def record(name: str, **figures: object) -> None:
    """Keep a soak's figures: a line each, appended at once, for tests run in several processes."""
    if SOAK:
        RESULTS.mkdir(exist_ok=True)
        with (RESULTS / "soak.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, **figures}) + "\n")

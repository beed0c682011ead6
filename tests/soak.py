"""How much to do: a part in `make test`, all of it in `make soak`."""

import json
import os
from pathlib import Path

import pytest

SOAK = bool(os.environ.get("TAMIS_SOAK"))
RESULTS = Path(__file__).parents[1] / "results"


def count(usual: int, soak: int) -> int:
    """The number of cases to run."""
    return soak if SOAK else usual


# For what takes most of a minute, and whose parts other tests have.
only_in_soak = pytest.mark.skipif(not SOAK, reason="it is long: make soak runs it")


def record(name: str, **figures: object) -> None:
    """Keep a soak's figures: a line each, appended at once, for tests run in several processes."""
    if SOAK:
        RESULTS.mkdir(exist_ok=True)
        with (RESULTS / "soak.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, **figures}) + "\n")

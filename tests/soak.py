"""How much to do: a part in `make test`, all of it in `make soak`."""

import json
import os
from pathlib import Path

SOAK = bool(os.environ.get("TAMIS_SOAK"))
RESULTS = Path(__file__).parents[1] / "results"


def count(usual: int, soak: int) -> int:
    """The number of cases to run."""
    return soak if SOAK else usual


def record(name: str, **figures: object) -> None:
    """Keep a soak's figures, one file per test: tests run in several processes."""
    if SOAK:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / f"soak-{name}.json").write_text(json.dumps(figures, indent=2) + "\n")

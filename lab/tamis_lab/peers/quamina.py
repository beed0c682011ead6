"""Go's quamina: patterns of values, prefixes and presence; no ranges."""

from __future__ import annotations

import re
import subprocess

from tamis_lab.peers.drivers import GO, driver_runner
from tamis_lab.peers.patterns import Patterns, Tests
from tamis_lab.peers.peer import Peer

NAME = "quamina"


class QuaminaPatterns(Patterns):
    """The language without the order of numbers."""

    peer = NAME

    def bound_tests(self, op: str, bound: object) -> Tests:
        """There is none."""
        raise self.refuse(op)

    def between_bounds(self, bounds: list[object]) -> Tests:
        """There is none."""
        raise self.refuse("BETWEEN")

    def other_than(self, values: list[object]) -> Tests:
        """Of texts only."""
        if not all(isinstance(value, str) for value in values):
            raise self.refuse("<> of what is no text")
        return [{"anything-but": values}]

    def text_test(self, function: str, part: str) -> object:
        """One star, and no way to say that it is meant as one."""
        if not part or "*" in part or function == "contains":
            raise self.refuse(function)
        return {"shellstyle": f"{part}*" if function == "startswith" else f"*{part}"}


def _version() -> str:
    """That of the module in the driver."""
    driver = GO.build() / "quamina"
    told = subprocess.run(["go", "version", "-m", driver], capture_output=True, encoding="utf-8")
    found = re.search(r"\bdep\s+quamina\.net/go/quamina\S*\s+v(\S+)", told.stdout)
    return found[1] if found else "unknown"


QUAMINA = Peer(
    name=NAME,
    about="Go quamina",
    takes="JSON text",
    unavailable=GO.unavailable,
    version=_version,
    translate=QuaminaPatterns.translate,
    run=driver_runner(GO),
    prepare=GO.build,
)

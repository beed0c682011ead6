"""Go's quamina: patterns of values, prefixes and presence; no ranges."""

from __future__ import annotations

import re
import subprocess

from tamis_lab.peers.drivers import GO, driver_runner
from tamis_lab.peers.patterns import Patterns, Tests
from tamis_lab.peers.peer import Peer

NAME = "quamina"


class QuaminaPatterns(Patterns):
    """The pattern language without numeric ranges."""

    peer = NAME

    def bound_tests(self, op: str, bound: object) -> Tests:
        """Bounds are not supported."""
        raise self.refuse(op)

    def between_bounds(self, bounds: list[object]) -> Tests:
        """Ranges are not supported."""
        raise self.refuse("BETWEEN")

    def other_than(self, values: list[object]) -> Tests:
        """Only texts are supported."""
        if not all(isinstance(value, str) for value in values):
            raise self.refuse("<> of a value that is not a text")
        return [{"anything-but": values}]

    def text_test(self, function: str, part: str) -> object:
        """A pattern has one star, and no escape for a literal one."""
        if not part or "*" in part or function == "contains":
            raise self.refuse(function)
        return {"shellstyle": f"{part}*" if function == "startswith" else f"*{part}"}


def _version() -> str:
    """Return the version of the module in the driver."""
    driver = GO.build() / "quamina"
    output = subprocess.run(["go", "version", "-m", driver], capture_output=True, encoding="utf-8")
    found = re.search(r"\bdep\s+quamina\.net/go/quamina\S*\s+v(\S+)", output.stdout)
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

"""The two ends of a link."""

from __future__ import annotations

from typing import NamedTuple

from tamis.broker.connection import Connection
from tamis.broker.names import Names


class End(NamedTuple):
    """One end.

    Attributes:
        name: The node.
        connection: To its NATS server.
        names: What everything is called there.
    """

    name: str
    connection: Connection
    names: Names


class Interrupted(Exception):
    """Something ended that must be begun anew."""

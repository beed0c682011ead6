"""The records that nodes store and exchange, as JSON; no I/O."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import msgspec
import xxhash

from tamis.broker.config.settings import NodeSettings, Settings
from tamis.errors import BrokerError
from tamis.routing.membership import Link, Path
from tamis.schema import Schema

PROTOCOL = 2

_HOW = {
    "routing": "give both the same --routing",
    "filters": "give both the same --filter-bits and --filter-hashes",
    "semantics": "give both the same --semantics",
    "schema": "give both the same --schema",
    "protocol": "run the same version of tamis on both",
}


class Description(msgspec.Struct, frozen=True, kw_only=True):
    """The description of a node in a handshake.

    Attributes:
        name: The name of the node.
        routing: Its routing strategy.
        filters: The bits and hash functions of its filters.
        semantics: What a missing attribute means there.
        schema: A hash of its schema; empty without a schema.
        protocol: The version of the protocol between nodes.
    """

    name: str
    routing: str
    filters: tuple[int, int]
    semantics: str
    schema: str
    protocol: int = PROTOCOL

    @classmethod
    def of(cls, settings: Settings, node: NodeSettings) -> Description:
        """Return the description of this node."""
        schema = settings.schema
        return cls(
            name=node.name,
            routing=node.routing,
            filters=(node.shape.m, node.shape.k),
            semantics=settings.semantics,
            schema="" if schema is None else _hash(schema),
        )

    def check(self, other: Description) -> None:
        """Check that two nodes can be linked.

        Raises:
            BrokerError: They cannot; the error says what differs, and what to do.
        """
        if self.name == other.name:
            raise BrokerError(
                f"both nodes have the name {self.name!r}; give one of them another --name",
                "overlay",
            )
        for field, how in _HOW.items():
            mine, theirs = getattr(self, field), getattr(other, field)
            if mine != theirs:
                raise BrokerError(
                    f"{self.name} and {other.name} differ in {field}: {_describe(mine)} here, "
                    f"{_describe(theirs)} there; {how}",
                    "overlay",
                )


def _hash(schema: Schema) -> str:
    """Return a hash that does not depend on the order of the attributes."""
    types = sorted((path, kind.value) for path, kind in schema.types.items())
    defaults = sorted((path, repr(value)) for path, value in schema.defaults.items())
    return xxhash.xxh3_64_hexdigest(repr((types, defaults, schema.open)).encode())


def _describe(value: object) -> str:
    if isinstance(value, tuple):
        return f"{value[0]:,} bits and {value[1]} hash functions"
    return str(value) if value != "" else "none"


class LinkRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A link, as each of its two nodes has it in its bucket.

    Attributes:
        id: The id of the link.
        made: When it was created, in nanoseconds since 1970.
        by: The node that runs it.
        leaving: Whether it is to be removed on both sides.
        refused: Why the link is not allowed; empty if it is.
    """

    id: str
    made: int
    by: str
    leaving: bool = False
    refused: str = ""

    def to_link(self, one: str, other: str) -> Link:
        """Return the link in the form of the membership."""
        return Link.between(one, other, self.made, self.id)


class Key(NamedTuple):
    """A key of the bucket of routes: `link.X`, `in.X.want.K`, `in.X.node.Y`, `out.X.…`."""

    side: str
    neighbour: str
    kind: str = ""
    word: str = ""

    @classmethod
    def parse(cls, text: str) -> Key:
        """Parse a key.

        Raises:
            ValueError: It is not a key of the bucket of routes.
        """
        words = text.split(".")
        if words[0] == "link" and len(words) == 2:
            return cls("link", words[1])
        if words[0] in ("in", "out") and len(words) == 4 and words[2] in ("want", "node"):
            return cls(*words)
        raise ValueError(f"{text!r} is not a key of routes")

    def __str__(self) -> str:
        """Return the key as the bucket has it.

        >>> str(Key("in", "rome", "node", "oslo")), str(Key("link", "rome"))
        ('in.rome.node.oslo', 'link.rome')
        """
        return ".".join(word for word in self if word)


def path_json(path: Path) -> list[list[Any]]:
    """Return a path as JSON."""
    return [[link.made, link.id, *link.ends] for link in path]


def path_of(value: object) -> Path:
    """Parse a path.

    Raises:
        ValueError: It is not a path.
    """
    try:
        return tuple(
            Link.between(str(one), str(other), int(made), str(id))
            for made, id, one, other in value  # type: ignore[attr-defined]
        )
    except TypeError as error:
        raise ValueError(f"not a path: {error}") from None


def digest(keys: Iterable[str]) -> str:
    """Return a short digest of a set of interests, which does not depend on their order.

    >>> digest(["0f", "f0"]) == digest(["f0", "0f"])
    True
    """
    combined = count = 0
    for key in keys:
        combined ^= int(key, 16)
        count += 1
    return f"{count}-{combined:032x}"

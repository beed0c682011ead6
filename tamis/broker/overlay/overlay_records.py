"""What nodes write down and tell each other, as JSON; pure."""

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
    """What a node says of itself when it is linked.

    Attributes:
        name: What it is called.
        routing: Its strategy.
        filters: Bits and hash functions of its filters.
        semantics: What a missing attribute means there.
        schema: A hash of its schema; empty if it has none.
        protocol: The version of how nodes talk.
    """

    name: str
    routing: str
    filters: tuple[int, int]
    semantics: str
    schema: str
    protocol: int = PROTOCOL

    @classmethod
    def of(cls, settings: Settings, node: NodeSettings) -> Description:
        """The description of a node of ours."""
        schema = settings.schema
        return cls(
            name=node.name,
            routing=node.routing,
            filters=(node.shape.m, node.shape.k),
            semantics=settings.semantics,
            schema="" if schema is None else _hash(schema),
        )

    def check(self, other: Description) -> None:
        """See that two nodes can be linked.

        Raises:
            BrokerError: They cannot; it says what is different, and what to do.
        """
        if self.name == other.name:
            raise BrokerError(
                f"both nodes are called {self.name!r}; give one another --name", "overlay"
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
    """The same for equal schemas, in whatever order they declare."""
    told = sorted((path, kind.value) for path, kind in schema.types.items())
    defaults = sorted((path, repr(value)) for path, value in schema.defaults.items())
    return xxhash.xxh3_64_hexdigest(repr((told, defaults, schema.open)).encode())


def _describe(value: object) -> str:
    if isinstance(value, tuple):
        return f"{value[0]:,} bits and {value[1]} hash functions"
    return str(value) if value != "" else "none"


class LinkRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A link, as each of its two nodes has it in its bucket.

    Attributes:
        id: Its name.
        made: When it was made, in nanoseconds since 1970.
        by: The node that runs it.
        leaving: Whether it is to be taken away on both sides.
        refused: Why it must not be; empty if it may.
    """

    id: str
    made: int
    by: str
    leaving: bool = False
    refused: str = ""

    def to_link(self, one: str, other: str) -> Link:
        """The link as the membership knows it."""
        return Link.between(one, other, self.made, self.id)


class Key(NamedTuple):
    """A key of the bucket of routes: `link.X`, `in.X.want.K`, `in.X.node.Y`, `out.X.…`."""

    side: str
    neighbour: str
    kind: str = ""
    word: str = ""

    @classmethod
    def parse(cls, text: str) -> Key:
        """Read a key.

        Raises:
            ValueError: It is none.
        """
        words = text.split(".")
        if words[0] == "link" and len(words) == 2:
            return cls("link", words[1])
        if words[0] in ("in", "out") and len(words) == 4 and words[2] in ("want", "node"):
            return cls(*words)
        raise ValueError(f"{text!r} is no key of routes")

    def __str__(self) -> str:
        """As the bucket has it.

        >>> str(Key("in", "rome", "node", "oslo")), str(Key("link", "rome"))
        ('in.rome.node.oslo', 'link.rome')
        """
        return ".".join(word for word in self if word)


def path_json(path: Path) -> list[list[Any]]:
    """A path as JSON has it."""
    return [[link.made, link.id, *link.ends] for link in path]


def path_of(told: object) -> Path:
    """Read a path.

    Raises:
        ValueError: It is none.
    """
    try:
        return tuple(
            Link.between(str(one), str(other), int(made), str(id))
            for made, id, one, other in told  # type: ignore[attr-defined]
        )
    except TypeError as error:
        raise ValueError(f"no path: {error}") from None


def digest(keys: Iterable[str]) -> str:
    """A set of interests in a few letters, in whatever order they came.

    >>> digest(["0f", "f0"]) == digest(["f0", "0f"])
    True
    """
    combined = count = 0
    for key in keys:
        combined ^= int(key, 16)
        count += 1
    return f"{count}-{combined:032x}"

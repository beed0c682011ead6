"""Convert a segment to flat arrays and a little JSON, and back; mapped arrays are used in place.

The parts of a segment are dataclasses and named tuples of arrays and numbers. The name of a stored
array is its path through them, such as `plan.narrow.second`. So the stored names mirror the
classes, and an index written by a version of Tamis with other fields is detected by its names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numpy.typing import NDArray

from tamis.engines.block.layout.axes import Axes
from tamis.engines.block.layout.plan import Plan
from tamis.engines.block.segment.ledger import Ledger
from tamis.engines.block.segment.segment import Segment
from tamis.engines.block.segment.stored_leaves import Read, StoredLeaves, packed_leaves
from tamis.engines.block.terms import Terms
from tamis.kernels.block.holds import Sets
from tamis.kernels.block.words import Bytes
from tamis.language.expr import Attribute, IsNull, ValueExpr
from tamis.matches import Id

Array = NDArray[Any]

_PARTS: dict[str, type] = {"ledger": Ledger, "axes": Axes, "sets": Sets, "plan": Plan}
# The name of the array of the records that had been removed when a segment was written.
REMOVED = "removed"
_BOUNDS, _TEXTS, _SLOT = "predicates.bounds", "predicates.texts", "axes.slot"


class PackedSegment(NamedTuple):
    """A segment as it is stored, without its removed records."""

    arrays: Mapping[str, Array]
    meta: Mapping[str, Any]


class Snapshot(NamedTuple):
    """The contents of an engine at one moment, without its draft.

    Attributes:
        stack: The segments.
        alive: By segment, which records were alive.
        unindexed: The subscriptions that are left to the oracle: id, selector, priority.
    """

    stack: tuple[Segment, ...]
    alive: list[Bytes]
    unindexed: list[tuple[Id, str, int]]


class LayoutMismatch(Exception):
    """A stored segment has other parts than this version of Tamis reads."""


def pack_segment(segment: Segment, terms: Terms) -> PackedSegment:
    """Return a segment as arrays.

    Its terms are numbered within the segment, because another engine numbers them differently.
    """
    arrays: dict[str, Array] = {}
    numbers: dict[str, int | float] = {}
    for name in _PARTS:
        _flatten(getattr(segment, name), name, arrays, numbers)
    slots, arrays[_SLOT] = np.unique(segment.axes.slot, return_inverse=True)
    arrays[_BOUNDS], arrays[_TEXTS] = packed_leaves(segment.predicates)
    used = [_encode_term(terms[slot]) for slot in slots.tolist()]
    return PackedSegment(arrays, {"informed": segment.informed, "numbers": numbers, "terms": used})


def unpack_segment(packed: PackedSegment, terms: Terms, read: Read) -> Segment:
    """Return the segment that was stored.

    Args:
        packed: Its arrays, including that of the removed records, and its metadata.
        terms: The terms of the engine that takes it.
        read: The selector parser.

    Raises:
        LayoutMismatch: It was written by a version of Tamis with another layout.
    """
    arrays, meta = dict(packed.arrays), packed.meta
    try:
        slots = [terms.slot(_decode_term(term, read)) for term in meta["terms"]]
        arrays[_SLOT] = np.array(slots, np.int64)[arrays[_SLOT]]
        predicates = StoredLeaves(arrays.pop(_BOUNDS), arrays.pop(_TEXTS), read)
        parts = {n: _unflatten(kind, n, arrays, meta["numbers"]) for n, kind in _PARTS.items()}
        removed, informed = arrays.pop(REMOVED), bool(meta["informed"])
    except KeyError as error:
        raise LayoutMismatch(f"has no array or number named {error}") from error
    if arrays:
        raise LayoutMismatch(
            f"has arrays that this version of Tamis lacks: {', '.join(sorted(arrays))}"
        )
    segment = Segment(predicates=predicates, informed=informed, **parts)
    segment.alive[removed] = 0
    segment.dead = len(removed)
    return segment


def removed_records(alive: Array) -> Array:
    """Return the records that are not alive."""
    return np.flatnonzero(alive == 0).astype(np.int32)


# -- parts ----------------------------------------------------------------------------------------


def _flatten(
    part: Any, name: str, arrays: dict[str, Array], numbers: dict[str, int | float]
) -> None:
    if isinstance(part, np.ndarray):
        arrays[name] = part
    elif isinstance(part, int | float | np.number):
        numbers[name] = part.item() if isinstance(part, np.number) else part
    else:
        for inner in _names(type(part)):
            _flatten(getattr(part, inner), f"{name}.{inner}", arrays, numbers)


def _unflatten(
    kind: type, name: str, arrays: dict[str, Array], numbers: Mapping[str, int | float]
) -> Any:
    hints = get_type_hints(kind)
    values: dict[str, object] = {}
    for inner in _names(kind):
        path, hint = f"{name}.{inner}", hints[inner]
        if isinstance(hint, type) and _is_compound(hint):
            values[inner] = _unflatten(hint, path, arrays, numbers)
        else:
            values[inner] = numbers[path] if hint in (int, float) else arrays.pop(path)
    return kind(**values)


def _is_compound(kind: type) -> bool:
    return is_dataclass(kind) or hasattr(kind, "_fields")


def _names(kind: type) -> Iterator[str]:
    if is_dataclass(kind):
        return (field.name for field in fields(kind))
    return iter(kind._fields)  # type: ignore[attr-defined]


def _encode_term(term: ValueExpr) -> list[str] | str:
    """Return an attribute as its path, and any other term as text."""
    return list(term.path) if isinstance(term, Attribute) else str(term)


def _decode_term(encoded: list[str] | str, read: Read) -> ValueExpr:
    if not isinstance(encoded, str):
        return Attribute(tuple(encoded))
    test = read(f"({encoded}) IS NULL")
    assert isinstance(test, IsNull)
    return test.operand

"""Draw an engine: its segments, the ways of their subscriptions, and the largest buckets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tamis.dot import quote
from tamis.engines.block.layout.ways import counts
from tamis.engines.block.report.leaf_text import LeafPrinter
from tamis.engines.block.segment.segment import Segment
from tamis.engines.block.terms import Terms
from tamis.kernels.block.words import AXIS_SHIFT, LOW_SHIFT

# The most segments that are drawn one by one, and the most buckets per way. 8 segments of one node,
# 4 ways and 2 * 9 buckets each are fewer than 200 nodes.
_SEGMENTS = 8
_BUCKETS = 8
_COLOURS = {"value": "#c7e9c0", "cover": "#fdd49e", "block": "#c6dbef", "never": "#d9d9d9"}


def to_dot(stack: Sequence[Segment], terms: Terms, oracle: int) -> str:
    """Return the segments as a Graphviz digraph, largest first.

    `oracle` is the number of subscriptions that are in no segment.
    """
    lines = [
        "digraph block {",
        "  rankdir=LR;",
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];',
        f"  all [label={_label('subscriptions', sum(map(len, stack)) + oracle)}];",
    ]
    ordered = sorted(stack, key=len, reverse=True)
    for number, segment in enumerate(ordered[:_SEGMENTS], 1):
        lines += _segment(f"s{number}", segment, terms)
    others = ordered[_SEGMENTS:]
    if others:
        lines += _node("all", "rest", f"{len(others)} more segments", sum(map(len, others)))
    if oracle:
        lines += _node("all", "oracle", "too large: the oracle", oracle)
    return "\n".join([*lines, "}"])


def _segment(name: str, segment: Segment, terms: Terms) -> Iterator[str]:
    by = "laid out by events" if segment.informed else "laid out by guesses"
    yield from _node("all", name, f"segment {name[1:]}, {by}", len(segment))
    plan = segment.plan
    for way, count in counts(plan).items():
        if not count:
            continue
        label = f"in blocks of {segment.block_size}" if way == "block" else _WAY_LABELS[way]
        yield from _node(name, f"{name}_{way}", label, count, _COLOURS[way])
        if way in ("value", "cover"):
            yield from _buckets(f"{name}_{way}", segment, terms, _COLOURS[way])


_WAY_LABELS = {"value": "under one value", "cover": "under several", "never": "never"}


def _buckets(parent: str, segment: Segment, terms: Terms, colour: str) -> Iterator[str]:
    plan = segment.plan
    offsets = plan.narrow.offsets if parent.endswith("value") else plan.general.offsets
    held = np.diff(offsets)
    some = np.flatnonzero(held)
    largest = some[np.argsort(-held[some], kind="stable")[:_BUCKETS]]
    wording = LeafPrinter(segment, terms)
    for i, bucket in enumerate(largest.tolist()):
        text = wording.text(_leaf(segment, bucket))
        yield from _node(parent, f"{parent}_{i}", text, int(held[bucket]), colour)
    left = len(some) - len(largest)
    if left:
        count = int(held.sum() - held[largest].sum())
        yield from _node(parent, f"{parent}_rest", f"{left:,} more", count, colour)


def _leaf(segment: Segment, bucket: int) -> int:
    """Return the leaf of a bucket; for a piece of an axis, its interval."""
    plan, at = segment.plan, segment.plan.buckets
    if bucket < len(plan.leaves):
        return int(plan.leaves[bucket])
    level = int(np.searchsorted(at.level_at, bucket, side="right")) - 1
    axis = int(np.searchsorted(at.level_offsets, level, side="right")) - 1
    shift, piece = int(at.level_shift[level]), bucket - int(at.level_at[level])
    top = 2 * int(segment.axes.count[axis]) + 1
    low, high = piece << shift, min((piece + 1) << shift, top)
    return axis << AXIS_SHIFT | low << LOW_SHIFT | high


def _node(parent: str, name: str, text: str, count: int, colour: str = "white") -> list[str]:
    return [
        f"  {name} [label={_label(text, count)}, fillcolor={quote(colour)}];",
        f"  {parent} -> {name};",
    ]


def _label(text: str, count: int) -> str:
    shown = text if len(text) <= 60 else text[:59] + "…"
    return quote(f"{shown}\n{count:,}")

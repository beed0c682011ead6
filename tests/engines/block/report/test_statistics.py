"""The statistics and the drawing of an engine."""

from __future__ import annotations

import re

import tamis
from tamis.engines.block.layout.plan import GENERAL_BELOW, NARROW_BELOW

_NAME = r"[a-z0-9_]+"
_TEXT = r'"(?:[^"\\]|\\.)*"'
_LINES = re.compile(
    rf"  (?:rankdir=LR|node \[[^\]]*\]|(?P<name>{_NAME}) \[label={_TEXT}(?:, fillcolor={_TEXT})?\]"
    rf"|(?P<parent>{_NAME}) -> (?P<child>{_NAME}));"
)


EVENTS = [{"a": n, "b": n, "c": 1} for n in range(1000)]


def _nodes(dot: str) -> list[str]:
    """Return the nodes of a drawing; check that all lines are DOT, and that it is one tree."""
    first, *lines, last = dot.split("\n")
    assert (first, last) == ("digraph block {", "}")
    names, children = [], []
    for line in lines:
        found = _LINES.fullmatch(line)
        assert found, line
        names += [found["name"]] if found["name"] else []
        if found["child"]:
            assert found["parent"] in names and found["child"] in names
            children.append(found["child"])
    assert len(set(names)) == len(names) and sorted(children) == sorted(set(names) - {"all"})
    return names


def _matcher() -> tamis.Matcher:
    matcher = tamis.Matcher(engine="block")
    matcher.add_many((f"v{n}", f"a = {n % 10} AND b > {n}") for n in range(100))
    matcher.add_many((f"w{n}", f"b >= {n} AND c <> {n}") for n in range(100))
    matcher.add_many([("or", "a = 1000 OR b BETWEEN 5 AND 5.5"), ("never", "a = NULL")])
    return matcher


def test_stats_report_the_choices_of_the_plan() -> None:
    matcher = _matcher()
    matcher.match_batch([])
    assert matcher.stats()["informed"] == 0.0
    matcher.match_batch(EVENTS)
    matcher.match_batch([])  # lays out the draft again, now that events are known
    stats = matcher.stats()
    assert (stats["subscriptions"], stats["segments"], stats["segment_sizes"]) == (202, 1, [202])
    assert stats["ways"] == {"value": 100, "cover": 1, "block": 100, "never": 1}
    assert stats["thresholds"] == {"value": NARROW_BELOW, "cover": GENERAL_BELOW}
    assert (stats["events_sampled"], stats["events_counted"]) == (1000, 1000)
    assert stats["informed"] == 1.0
    sizes = stats["bytes"]
    assert sizes["all"] == sum(sizes[part] for part in sizes if part != "all")
    assert sizes["counters"] == 202 * 8 and sizes["value"] > 100 * 8 and sizes["ledger"] > 0


def test_an_empty_engine_has_stats_and_a_drawing() -> None:
    matcher = tamis.Matcher(engine="block")
    assert matcher.stats()["informed"] == 0.0 and matcher.stats()["bytes"]["all"] == 0
    assert _nodes(matcher.to_dot()) == ["all"]


def test_a_drawing_shows_segments_ways_and_buckets() -> None:
    matcher = tamis.Matcher(engine="block")
    matcher.add_many([("x", "a = 'qu\"ote' AND b > 1"), ("y", "a = 'qu\"ote'"), ("z", "a = 2")])
    matcher.plan("x", EVENTS)
    assert matcher.to_dot() == (
        "digraph block {\n"
        "  rankdir=LR;\n"
        '  node [shape=box, style="rounded,filled", fillcolor=white, fontname="sans-serif"];\n'
        '  all [label="subscriptions\\n3"];\n'
        '  s1 [label="segment 1, laid out by events\\n3", fillcolor="white"];\n'
        "  all -> s1;\n"
        '  s1_value [label="under one value\\n3", fillcolor="#c7e9c0"];\n'
        "  s1 -> s1_value;\n"
        '  s1_value_0 [label="a = \'qu\\"ote\'\\n2", fillcolor="#c7e9c0"];\n'
        "  s1_value -> s1_value_0;\n"
        '  s1_value_1 [label="a = 2\\n1", fillcolor="#c7e9c0"];\n'
        "  s1_value -> s1_value_1;\n"
        "}"
    )


def test_every_way_is_drawn() -> None:
    matcher = _matcher()
    matcher.match_batch(EVENTS)
    dot = matcher.to_dot()
    names = _nodes(dot)
    assert {"s1_value", "s1_cover", "s1_block", "s1_never"} <= set(names)
    assert "b > 5 AND b <= 5.5" in dot  # a piece of an axis: the interval is in two


def test_a_drawing_stays_small() -> None:
    matcher = tamis.Matcher(engine="block")
    matcher.add_many((n, f"a = {n} AND b > {n % 9}") for n in range(30_000))
    dot = matcher.to_dot()
    assert len(_nodes(dot)) < 200 and "more\\n" in dot

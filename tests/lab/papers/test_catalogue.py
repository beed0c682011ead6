"""Every table and figure of the papers is there, and each of its claims is about its curves."""

from __future__ import annotations

import re

import pytest
from tamis_lab.papers.curve_claims import exact_values
from tamis_lab.papers.figure_catalogue import figures
from tamis_lab.papers.kinds import KINDS
from tamis_lab.papers.spec import SCALES

from tamis.errors import InputError


@pytest.mark.parametrize("scale", SCALES)
def test_all_are_there(scale: str) -> None:
    numbers = {(figure.paper, figure.number) for figure in figures(scale)}
    wanted = {("bdd", "Table 1"), ("bdd", "Table 2"), ("bloom", "Figure 5")}
    wanted |= {("atree", f"Figure 5.{number}") for number in range(1, 32)}
    wanted |= {("atree", "Table 5.3"), ("atree", "Table 5.4")}
    wanted |= {("bloom", f"Figure 4({letter})") for letter in "ab"}
    wanted |= {("bloom", f"Figure {number}({letter})") for number in (6, 7) for letter in "abc"}
    wanted |= {("bloom", f"Figure 8({letter})") for letter in "ab"}
    assert wanted <= numbers


@pytest.mark.parametrize("scale", SCALES)
def test_each_can_be_measured_drawn_and_judged(scale: str) -> None:
    found = figures(scale)
    assert len({figure.name for figure in found}) == len(found)
    for figure in found:
        assert figure.curves and all(curve.places for curve in figure.curves)
        labels = [curve.label for curve in figure.curves]
        assert len(set(labels)) == len(labels)
        assert set(figure.paper_values) <= set(labels)
        assert {point.kind for point in figure.points()} <= set(KINDS)
        assert re.fullmatch("[a-z0-9-]+", figure.name)
        assert figure.claims or figure.paper in ("beyond", "bloom")


def test_claims_can_be_told_where_all_is_measured() -> None:
    """A claim about a label that no curve has could never be told."""
    for figure in figures("paper"):
        curves = {
            curve.label: exact_values((place.x, 1.0) for place in curve.places)
            for curve in figure.curves
        }
        unknown = [c.text for c in figure.claims if c.check(curves).holds is None]
        assert unknown == []


def test_some_by_name() -> None:
    assert {figure.paper for figure in figures("small", ["bdd"])} == {"bdd"}
    both = [figure.number for figure in figures("small", ["atree:5.4"])]
    assert both == ["Figure 5.4", "Table 5.4"]
    assert [figure.number for figure in figures("small", ["bloom:6(a)"])] == ["Figure 6(a)"]


@pytest.mark.parametrize(
    ("scale", "asked", "said"),
    [
        ("huge", None, "small, paper"),
        ("small", ["thesis"], "bdd, atree, bloom"),
        ("small", ["atree:9.9"], "Figure 5.1"),
    ],
)
def test_what_is_not_there(scale: str, asked: list[str] | None, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        figures(scale, asked)

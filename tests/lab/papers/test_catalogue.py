"""Every table and figure of the papers exists, and its claims are about its curves."""

from __future__ import annotations

import re

import pytest
from tamis_lab.papers.curve_claims import exact_values
from tamis_lab.papers.figure_catalogue import figures
from tamis_lab.papers.kinds import KINDS
from tamis_lab.papers.spec import SCALES

from tamis.errors import InputError


@pytest.mark.parametrize("scale", SCALES)
def test_every_figure_of_the_papers_is_in_the_catalogue(scale: str) -> None:
    numbers = {(figure.paper, figure.number) for figure in figures(scale)}
    wanted = {("bdd", "Table 1"), ("bdd", "Table 2"), ("bloom", "Figure 5")}
    wanted |= {("atree", f"Figure 5.{number}") for number in range(1, 32)}
    wanted |= {("atree", "Table 5.3"), ("atree", "Table 5.4")}
    wanted |= {("bloom", f"Figure 4({letter})") for letter in "ab"}
    wanted |= {("bloom", f"Figure {number}({letter})") for number in (6, 7) for letter in "abc"}
    wanted |= {("bloom", f"Figure 8({letter})") for letter in "ab"}
    assert wanted <= numbers


@pytest.mark.parametrize("scale", SCALES)
def test_every_figure_has_points_curves_and_claims(scale: str) -> None:
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


def test_claims_are_decided_if_everything_is_measured() -> None:
    """A claim about a label that no curve has could never be decided."""
    for figure in figures("paper"):
        curves = {
            curve.label: exact_values((place.x, 1.0) for place in curve.places)
            for curve in figure.curves
        }
        unknown = [c.text for c in figure.claims if c.check(curves).holds is None]
        assert unknown == []


def test_figures_are_selected_by_name() -> None:
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
def test_unknown_names_are_refused(scale: str, asked: list[str] | None, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        figures(scale, asked)

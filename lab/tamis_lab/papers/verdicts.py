"""Figures with their results: values, verdicts, gaps. A report contains nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tamis_lab.bench.growth import exponent, fit_line
from tamis_lab.papers.figure_catalogue import figures
from tamis_lab.papers.results import Results
from tamis_lab.papers.spec import Claim, CurveValue, Figure, Verdict
from tamis_lab.papers.thesis_sweeps import BLOCK, COUNTING, TVP


@dataclass(frozen=True)
class FigureResult:
    """A figure with its values, the verdicts on its claims, and what could not be measured."""

    figure: Figure
    curves: Mapping[str, Sequence[CurveValue]]
    verdicts: tuple[tuple[Claim, Verdict], ...]
    gaps: tuple[str, ...]


def figure_results(results: Results, scale: str) -> list[FigureResult]:
    """Return all figures of a scale, including those without any measurement."""
    found = []
    for figure in figures(scale):
        curves = results.curves(figure)
        verdicts = tuple((claim, claim.check(curves)) for claim in figure.claims)
        found.append(FigureResult(figure, curves, verdicts, tuple(results.gaps(figure))))
    return found


def tally(found: Sequence[FigureResult]) -> dict[bool | None, int]:
    """Count the claims that hold, fail, and are undecided."""
    verdicts = [verdict.holds for one in found for _, verdict in one.verdicts]
    return {kind: verdicts.count(kind) for kind in (True, False, None)}


# -- growth ---------------------------------------------------------------------------------------

# What grows, its figure, and whether its curves are fitted by a power or by a line.
_GROWTHS = (
    ("events per second by subscriptions, =, L = 10", "Figure 5.5", "power"),
    ("bytes by subscriptions, =, L = 10", "Figure 5.8", "line"),
    ("insertions per second by subscriptions, =, L = 10", "Figure 5.2", "power"),
    ("events per second by predicates (L), =", "Figure 5.25", "power"),
)


def growths(found: Sequence[FigureResult]) -> Iterator[tuple[str, str, str]]:
    """Yield how curves of the thesis grow, with ours (`block`): figure, algorithm, growth."""
    by_number = {one.figure.number: one for one in found if one.figure.paper == "atree"}
    for what, number, kind in _GROWTHS:
        for label, curve in by_number[number].curves.items():
            # Zero for a few subscriptions, which `block` keeps as a draft.
            values = [value for value in curve if value.y > 0]
            if len(values) > 1:
                yield what, label, _fit(values, kind)
    for label, values in _curves_by_matches(by_number):
        yield (
            "events per second by matches per event (SMPE), >, L = 14",
            label,
            _fit(values, "power"),
        )


def _curves_by_matches(
    by_number: Mapping[str, FigureResult],
) -> Iterator[tuple[str, list[CurveValue]]]:
    """Yield the figures of §5.9 over SMPE, at the largest number of subscriptions that all have."""
    for number, label, ending in (
        ("Figure 5.30", TVP, ""),
        ("Figure 5.31", COUNTING, ""),
        ("Figure 5.31", BLOCK, ", block"),
    ):
        curves = by_number[number].curves
        shares = {share: curves.get(f"SMPE {share} %{ending}", ()) for share in (10, 40, 70)}
        sizes = set.intersection(*({value.x for value in values} for values in shares.values()))
        if sizes:
            largest = max(sizes)
            yield (
                f"{label}, {largest:,.0f} subscriptions",
                [
                    value._replace(x=float(share))
                    for share, values in shares.items()
                    for value in values
                    if value.x == largest
                ],
            )


def _fit(values: Sequence[CurveValue], kind: str) -> str:
    xs, ys = [value.x for value in values], [value.y for value in values]
    if kind == "line":
        return str(fit_line(xs, ys))
    return f"power {exponent(xs, ys):.2f}"

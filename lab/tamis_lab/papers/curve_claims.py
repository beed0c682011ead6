"""Claims about curves, as checks: which is higher, which falls, where two cross.

Each check states its evidence in words and figures, so that a failed claim can be examined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from tamis_lab.bench.growth import exponent
from tamis_lab.harness.figure_text import number
from tamis_lab.papers.spec import Curves, CurveValue, Verdict

Check = Callable[[Curves], Verdict]
Pairs = list[tuple[float, float, float]]


def above(higher: str, lower: str, *, times: float = 1.0, since: float = 0.0) -> Check:
    """Check that one curve is at least `times` as high as another, for every x from `since` on."""

    def check(curves: Curves) -> Verdict:
        pairs = [pair for pair in _common_values(curves, higher, lower) if pair[0] >= since]
        if not pairs:
            return _missing_verdict(higher, lower)
        ratios = [up / low for _, up, low in pairs]
        return Verdict(
            min(ratios) >= times, f"{higher} / {lower}: {_range(ratios)} ({_x_range(pairs)})"
        )

    return check


def alike(first: str, second: str, within: float) -> Check:
    """Check that two curves never differ by more than a factor."""

    def check(curves: Curves) -> Verdict:
        pairs = _common_values(curves, first, second)
        if not pairs:
            return _missing_verdict(first, second)
        ratios = [one / other for _, one, other in pairs]
        close = all(1 / within <= ratio <= within for ratio in ratios)
        return Verdict(close, f"{first} / {second}: {_range(ratios)} ({_x_range(pairs)})")

    return check


def overtakes(late: str, early: str, before: float, after: float) -> Check:
    """Check that one curve is lower up to `before`, and higher from `after` on."""

    def check(curves: Curves) -> Verdict:
        pairs = _common_values(curves, late, early)
        low = [pair for pair in pairs if pair[0] <= before]
        high = [pair for pair in pairs if pair[0] >= after]
        if not low or not high:
            return _missing_verdict(late, early)
        holds = all(up < down for _, up, down in low) and all(up > down for _, up, down in high)
        ratios = ", ".join(f"{up / down:.2f} at {x:,.0f}" for x, up, down in pairs)
        return Verdict(holds, f"{late} / {early}: {ratios}")

    return check


def gains(late: str, early: str) -> Check:
    """Check that the ratio of two curves is larger at the end than at the beginning."""

    def check(curves: Curves) -> Verdict:
        pairs = _common_values(curves, late, early)
        if len(pairs) < 2:
            return _missing_verdict(late, early)
        ratios = [up / down for _, up, down in pairs]
        shown = ", ".join(
            f"{ratio:.2f} at {x:,.0f}" for ratio, (x, _, _) in zip(ratios, pairs, strict=True)
        )
        return Verdict(ratios[-1] > ratios[0], f"{late} / {early}: {shown}")

    return check


def grows(label: str, least: float, most: float, what: str = "x") -> Check:
    """Check that a curve grows as a power of x between two bounds; negative if it falls."""

    def check(curves: Curves) -> Verdict:
        curve = _positive_values(curves, label)
        if len(curve) < 2:
            return _missing_verdict(label)
        power = exponent([value.x for value in curve], [value.y for value in curve])
        return Verdict(
            least <= power <= most,
            f"{label} ∝ {what}^{power:.2f}, from {number(curve[0].y)} to {number(curve[-1].y)}",
        )

    return check


def falls_faster(faster: str, slower: str) -> Check:
    """Check that a curve falls with a larger power of x than another."""

    def check(curves: Curves) -> Verdict:
        powers = []
        for label in (faster, slower):
            curve = _positive_values(curves, label)
            if len(curve) < 2:
                return _missing_verdict(label)
            powers.append(exponent([v.x for v in curve], [v.y for v in curve]))
        return Verdict(
            powers[0] < powers[1],
            f"{faster} ∝ x^{powers[0]:.2f}, {slower} ∝ x^{powers[1]:.2f}",
        )

    return check


def at_least(label: str, x: float, y: float) -> Check:
    """Check that a curve is not below a value at an x."""

    def check(curves: Curves) -> Verdict:
        found = [value for value in curves.get(label, ()) if value.x == x]
        if not found:
            return Verdict(None, f"{label} was not measured at {x:,.0f}")
        return Verdict(found[0].y >= y, f"{label}: {number(found[0].y)} at {x:,.0f}")

    return check


def at_most(label: str, x: float, y: float) -> Check:
    """Check that a curve is not above a value at an x."""

    def check(curves: Curves) -> Verdict:
        found = [value for value in curves.get(label, ()) if value.x == x]
        if not found:
            return Verdict(None, f"{label} was not measured at {x:,.0f}")
        return Verdict(found[0].y <= y, f"{label}: {number(found[0].y)} at {x:,.0f}")

    return check


def near(label: str, expected: Sequence[tuple[float, float]], within: float) -> Check:
    """Check that a curve agrees with the values that the paper prints, within a factor."""
    printed = dict(expected)

    def check(curves: Curves) -> Verdict:
        both = [(value, printed[value.x]) for value in curves.get(label, ()) if value.x in printed]
        if not both:
            return Verdict(None, f"{label} was not measured where the paper prints values")
        ratios = [value.y / paper for value, paper in both]
        holds = all(1 / within <= ratio <= within for ratio in ratios)
        return Verdict(holds, f"{label}: {_range(ratios)} times the paper's")

    return check


def each_above_next(labels: Sequence[str]) -> Check:
    """Check that each of these curves is above the next, wherever both were measured."""

    def check(curves: Curves) -> Verdict:
        shown, holds = [], True
        for higher, lower in pairwise(labels):
            verdict = above(higher, lower)(curves)
            if verdict.holds is None:
                return verdict
            holds = holds and verdict.holds
            shown.append(verdict.evidence)
        return Verdict(holds, "; ".join(shown))

    return check


def all_hold(*checks: Check) -> Check:
    """Combine several checks; all must hold."""

    def check(curves: Curves) -> Verdict:
        verdicts = [one(curves) for one in checks]
        found = [verdict.holds for verdict in verdicts]
        holds = False if False in found else None if None in found else True
        return Verdict(holds, "; ".join(verdict.evidence for verdict in verdicts))

    return check


def zero(label: str) -> Check:
    """Check that a curve is zero everywhere."""

    def check(curves: Curves) -> Verdict:
        curve = curves.get(label, ())
        if not curve:
            return _missing_verdict(label)
        most = max(value.y for value in curve)
        return Verdict(most == 0, f"{label}: at most {most:g} at {len(curve)} places")

    return check


# -- parts ----------------------------------------------------------------------------------------


def _common_values(curves: Curves, first: str, second: str) -> Pairs:
    """Return the values of two curves where both have one."""
    others = {value.x: value.y for value in curves.get(second, ())}
    return [
        (value.x, value.y, others[value.x])
        for value in curves.get(first, ())
        if others.get(value.x)
    ]


def _positive_values(curves: Curves, label: str) -> list[CurveValue]:
    """Return the values that have a logarithm."""
    return [value for value in curves.get(label, ()) if value.y > 0]


def _missing_verdict(*labels: str) -> Verdict:
    return Verdict(None, f"too few measurements of {' and '.join(labels)}")


def _x_range(pairs: Pairs) -> str:
    xs = [x for x, _, _ in pairs]
    return f"at {min(xs):,.10g}" if len(xs) == 1 else f"from {min(xs):,.10g} to {max(xs):,.10g}"


def _range(figures: Iterable[float]) -> str:
    found = list(figures)
    low, high = number(min(found)), number(max(found))
    return low if low == high else f"{low} to {high}"


def exact_values(values: Iterable[tuple[float, float]]) -> list[CurveValue]:
    """Return values without a spread.

    >>> above("a", "b", times=2)({"a": exact_values([(1, 6)]), "b": exact_values([(1, 2)])})
    Verdict(holds=True, evidence='a / b: 3 (at 1)')
    """
    return [CurveValue(x, y, y, y) for x, y in values]

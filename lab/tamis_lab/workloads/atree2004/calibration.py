"""Workloads with a given SNPS and SMPE: both are measured, and parameters adjusted to reach them.

The thesis sets both only roughly, and measures SMPE afterwards (§5.2.4, §5.8). Here the parameters
that they depend on are corrected until the measured values are within two points of the request:

    SNPS    shared_predicates, and `repeated`: how often both expressions are from pool A
    SMPE    the values of events (`scale`) where predicates are `>`, else how many events are made
            for two expressions of pool A (`matching`); and how many attributes events have

Everything is drawn from the seed, so the same request gives the same workload everywhere.

>>> found = steer_workload(subscriptions=2000, predicates=6, relation=">", snps=0.4, smpe=0.3)
>>> abs(found.snps - 0.4) < 0.02, abs(found.smpe - 0.3) < 0.02
(True, True)
>>> found.events(100)
EventBatch(100 events, 20 attributes)
>>> SteeredWorkload.of(found.knobs()) == found  # plain values, for another process
True
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from tamis.errors import InputError
from tamis.events.batch import EventBatch
from tamis_lab.workloads.atree2004.event_targets import EventKnobs, steer_events
from tamis_lab.workloads.atree2004.root_search import crossing
from tamis_lab.workloads.atree2004.shared_fraction import sample_of, shared_fraction
from tamis_lab.workloads.atree2004.workload import Workload
from tamis_lab.workloads.random_draws import check

TOLERANCE = 0.02
EVENTS = 4096
# So many that little is shared by chance, but few enough for the predicates to fit into memory.
VALUES = 20_000
# The sizes of pool A to try, the largest first, where events are made for its expressions.
_POOLS = (4, 3, 2, 1)
_TRIES = 4


@dataclass(frozen=True)
class SteeredWorkload:
    """A workload, the way its events are drawn, and the measured figures.

    Attributes:
        workload: The subscriptions.
        drawn: How events are drawn: arguments of `Workload.events`.
        snps: Over internal nodes, measured on the subscriptions or a sample with the same SNPS.
        smpe: Measured on the first events and up to 4,096 subscriptions.
    """

    workload: Workload
    drawn: EventKnobs
    snps: float
    smpe: float

    def events(self, count: int, start: int = 0) -> EventBatch:
        """Return `count` events from `start` on."""
        return self.workload.events(count, start, **asdict(self.drawn))

    def selectors(self, start: int = 0, count: int | None = None) -> Iterator[str]:
        """Yield `count` subscriptions from `start` on as text, or all."""
        return self.workload.selectors(start, count)

    def knobs(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)

    @classmethod
    def of(cls, knobs: Mapping[str, Any]) -> SteeredWorkload:
        """Restore what `knobs` returned, without measuring."""
        return cls(
            Workload(**knobs["workload"]),
            EventKnobs(**knobs["drawn"]),
            knobs["snps"],
            knobs["smpe"],
        )


def steer_workload(
    *,
    snps: float | None = None,
    smpe: float | None = None,
    tolerance: float = TOLERANCE,
    events: int = EVENTS,
    least: int | None = None,
    **parameters: Any,
) -> SteeredWorkload:
    """Return a workload with a given SNPS and SMPE.

    Args:
        snps: The fraction of the internal nodes of a subscription that others have too; None to
            leave it uncontrolled.
        smpe: The fraction of the subscriptions that an event matches; None to leave it
            uncontrolled.
        tolerance: How far off either may be. A small SMPE is met to within a fifth of it.
        events: SMPE is measured on this many events.
        least: The least number of attributes of an event (A_E); None to compute it.
        parameters: Those of `Workload`. These are computed if they are not given:
            `shared_predicates`, `repeated`, and `pool` where predicates are not `>`.

    Raises:
        InputError: A parameter is out of range, or the request cannot be met; the message says
            what can be reached.
    """
    for name, share in (("snps", snps), ("smpe", smpe)):
        check(share is None or 0 <= share <= 1, name, "0 to 1")
    check(0 < tolerance <= 1, "tolerance", "more than 0, and no more than 1")
    check(events >= 1, "events", "1 or more")
    given = {"values": VALUES, **parameters}
    by_pool = "pool" not in given and smpe is not None and given.get("relation", "=") != ">"
    pools = _POOLS if by_pool else (given.get("pool"),)
    for pool in pools:
        try:
            found = given if pool is None else given | {"pool": pool}
            workload, shared = _workload_of_snps(
                found, snps, tolerance, _least_repeated(found, smpe)
            )
            drawn, matched = steer_events(workload, smpe, tolerance, events, least)
        except InputError:
            if pool == pools[-1]:
                raise
        else:
            break
    return SteeredWorkload(workload, drawn, shared, matched)


def _least_repeated(given: Mapping[str, Any], smpe: float | None) -> float:
    """Return how many must use pool A alone, so that events made for it match enough."""
    conjunctive = given.get("operators", "conjunctive") == "conjunctive"
    if smpe is None or not conjunctive or given.get("relation", "=") == ">":
        return 0.0
    if "repeated" in given:
        return float(given["repeated"])
    # A little more than needed, since chance decides a part.
    return min(1.0, 1.05 * smpe * int(given.get("pool", 1)) ** 2 / _overlap(given))


def _overlap(given: Mapping[str, Any]) -> float:
    return max(1e-9, float(given.get("overlap", Workload.overlap)))


def _workload_of_snps(
    given: Mapping[str, Any], wanted: float | None, tolerance: float, least_repeated: float
) -> tuple[Workload, float]:
    """Return a workload with the wanted SNPS, and the measured value."""
    length = given.get("predicates")
    if not isinstance(length, int) or length < 2:
        raise InputError("must be 2 or more", "predicates")
    middle = {"shared_predicates": length // 2} if "shared_predicates" not in given else {}
    workload = Workload(**{**given, **middle})
    fixed_length = None if middle else workload.shared_predicates
    fixed_repeated = workload.repeated if "repeated" in given else None
    if wanted is None:
        workload = replace(workload, repeated=max(least_repeated, workload.repeated))
        return workload, _measure_snps(workload)
    expected = ExpectedSharing(length, workload.overlap)
    lengths = range(1, length) if fixed_length is None else range(fixed_length, fixed_length + 1)
    low, high = (
        (least_repeated, 1.0) if fixed_repeated is None else (fixed_repeated, fixed_repeated)
    )
    chance = 0.0
    for _ in range(_TRIES):
        shared, repeated = expected.parameters(wanted - chance, lengths, low, high)
        workload = replace(workload, shared_predicates=shared, repeated=repeated)
        found = _measure_snps(workload)
        if abs(found - wanted) <= tolerance / 4:
            return workload, found
        chance = found - expected.snps(shared, repeated)
    workload, found = _search_snps(workload, wanted, tolerance, lengths, (low, high))
    if abs(found - wanted) > tolerance:
        _refuse_snps(workload, wanted, found, fixed_length, (low, high))
    return workload, found


def _search_snps(
    workload: Workload,
    wanted: float,
    tolerance: float,
    lengths: range,
    repeated: tuple[float, float],
) -> tuple[Workload, float]:
    """Search without the expected values, where chance decides more than they do."""
    low, high = repeated
    for shared in reversed(lengths):
        workload = replace(workload, shared_predicates=shared, repeated=low)
        if _measure_snps(workload) <= wanted:
            break
    place = crossing(
        lambda share: _measure_snps(replace(workload, repeated=share)) - wanted,
        low,
        high,
        tolerance / 4,
    )
    workload = replace(workload, repeated=place)
    return workload, _measure_snps(workload)


def _refuse_snps(
    workload: Workload,
    wanted: float,
    found: float,
    fixed_length: int | None,
    repeated: tuple[float, float],
) -> None:
    """Report what can be reached instead.

    Raises:
        InputError: Always.
    """
    ends = (1, workload.predicates - 1) if fixed_length is None else (fixed_length, fixed_length)
    least, most = (
        _measure_snps(replace(workload, shared_predicates=shared, repeated=share))
        for shared, share in zip(ends, repeated, strict=True)
    )
    hint = "use more `values`, or less `overlap`" if wanted < found else "use more `overlap`"
    raise InputError(
        f"cannot be {wanted:.1%} here; {least:.1%} to {most:.1%} can be reached; {hint}", "snps"
    )


def _measure_snps(workload: Workload) -> float:
    return shared_fraction(sample_of(workload))


@dataclass(frozen=True, slots=True)
class ExpectedSharing:
    """SNPS as it would be if nothing were shared by chance.

    >>> ExpectedSharing(10, 0.9).snps(4, 0.1)
    0.36
    >>> ExpectedSharing(10, 0.9).parameters(0.36, range(1, 10), 0.0, 1.0)
    (4, 0.1)

    Attributes:
        predicates: Number of predicates of a subscription (L).
        overlap: The fraction of subscriptions that are not unique.
    """

    predicates: int
    overlap: float

    def snps(self, shared_predicates: int, repeated: float) -> float:
        """Return the fraction of internal nodes that are shared: of one expression, or all."""
        part = (shared_predicates - 1) / (self.predicates - 1)
        return round(self.overlap * (repeated + (1 - repeated) * part), 12)

    def parameters(
        self, wanted: float, lengths: range, low: float, high: float
    ) -> tuple[int, float]:
        """Return the longest shared expression that fits, and the fraction `repeated`."""
        fitting = [length for length in lengths if self.snps(length, low) <= wanted]
        shared = max(fitting, default=min(lengths))
        part = (shared - 1) / (self.predicates - 1)
        repeated = (wanted / max(1e-9, self.overlap) - part) / (1 - part)
        return shared, round(min(high, max(low, repeated)), 12)

"""Draw events such that each matches a given fraction of the subscriptions (SMPE).

Where predicates are `>`, more match the larger the values of events are: `scale` decides. Otherwise
a random event matches next to nothing, and the number of events made for a pair of expressions
decides (`matching`). An event that lacks an attribute satisfies no test of it, so SMPE is bounded
by the number of attributes of events: if necessary, `least` is raised or lowered.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from tamis.errors import InputError
from tamis_lab.workloads.atree2004.matched_fraction import SubscriptionSample
from tamis_lab.workloads.atree2004.root_search import crossing
from tamis_lab.workloads.atree2004.workload import Workload

# Numbers of subscriptions for the first look, for the search, and for the final measurement.
_FEW, _SOME, _MANY = 256, 1024, 4096
_FEW_EVENTS = 1024
# Probabilities that a predicate holds; with XOR, the greatest one does not match most.
_CHANCES = (0.001, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.995, 0.9999)
_ROUNDS = 4


@dataclass(frozen=True)
class EventKnobs:
    """How events are drawn: arguments of `Workload.events`."""

    matching: float = 0.0
    scale: float = 1.0
    least: int | None = None


def steer_events(
    workload: Workload, wanted: float | None, tolerance: float, events: int, least: int | None
) -> tuple[EventKnobs, float]:
    """Find how to draw events that match a fraction of the subscriptions; return it and the SMPE.

    Args:
        workload: The subscriptions.
        wanted: SMPE, or None for events as they come.
        tolerance: How far off it may be; it is also met to within a fifth of `wanted`.
        events: SMPE is measured on this many events.
        least: The least number of attributes of an event, or None to compute it.

    Raises:
        InputError: There is no way to draw such events.
    """
    return _Search(workload, SubscriptionSample(workload, _MANY), events).find(
        wanted, tolerance, least
    )


@dataclass(frozen=True, slots=True)
class _Search:
    """A search for the knobs.

    Attributes:
        workload: The subscriptions.
        sample: Some of them.
        events: How many events to measure on.
    """

    workload: Workload
    sample: SubscriptionSample
    events: int

    def find(
        self, wanted: float | None, tolerance: float, least: int | None
    ) -> tuple[EventKnobs, float]:
        if wanted is None:
            knobs = EventKnobs(least=least)
            return knobs, self.smpe(knobs, _MANY)
        precise = min(tolerance, wanted / 5)
        least = self.least(wanted) if least is None else least
        start, end, reached = self.range(least)
        off = 0.0
        for _ in range(_ROUNDS):
            place = crossing(
                lambda x: self.smpe(self.knobs_at(x, least), _SOME) - wanted + off,  # noqa: B023
                start,
                end,
                precise / 4,
            )
            knobs = self.knobs_at(place, least)
            smpe = self.smpe(knobs, _MANY)
            if abs(smpe - wanted) <= precise / 2:
                break
            # More subscriptions give a more accurate value than fewer.
            off = smpe - self.smpe(knobs, _SOME)
        if abs(smpe - wanted) > precise:
            raise InputError(
                f"cannot be {wanted:.2%} here; about {reached[0]:.2%} to {reached[1]:.2%} can be "
                f"reached{self._hint(wanted > smpe, least)}",
                "smpe",
            )
        return knobs, smpe

    def _hint(self, higher: bool, least: int) -> str:
        if higher and self.workload.relation != ">":
            return "; use a higher SNPS, a smaller `pool` or the relation > for more"
        if higher and least < self.workload.attributes:
            return "; use a higher `least` for more"
        return ""

    def least(self, wanted: float) -> int:
        """Return how many attributes events must have: L or more if possible (Table 5.1)."""
        usual = self.workload.predicates
        more = range(usual, self.workload.attributes + 1)
        for least in more:
            _, _, (lowest, highest) = self.range(least)
            if lowest > wanted:
                break
            # Not at the very end of the reachable range, where values would have to be huge.
            if 0.95 * highest >= wanted:
                return least
        else:
            return more[-1]
        for least in range(usual, 0, -1):
            _, _, (lowest, _) = self.range(least)
            if lowest <= wanted:
                break
        return least

    def range(self, least: int) -> tuple[float, float, tuple[float, float]]:
        """Return the range in which SMPE grows, and roughly its values at both ends."""
        if self.workload.relation != ">":
            places: tuple[float, ...] = (0.0, 1.0)
        elif self.workload.operators == "mixed":
            places = _CHANCES
        else:
            places = _CHANCES[0], _CHANCES[-1]
        found = [self.smpe(self.knobs_at(place, least), _FEW, _FEW_EVENTS) for place in places]
        most = max(range(len(places)), key=found.__getitem__)
        return places[0], places[most], (found[0], found[most])

    def knobs_at(self, place: float, least: int) -> EventKnobs:
        """Return the knobs at a place between 0 and 1: the chance of a predicate, or of a match."""
        if self.workload.relation != ">":
            return EventKnobs(matching=place, least=least)
        return EventKnobs(scale=2 * place if place <= 0.5 else 1 / (2 * (1 - place)), least=least)

    def smpe(self, knobs: EventKnobs, subscriptions: int, events: int | None = None) -> float:
        """Measure SMPE on some subscriptions and events."""
        count = self.events if events is None else min(events, self.events)
        return self.sample.matched_fraction(
            self.workload.event_arrays(count, **asdict(knobs)), subscriptions
        )

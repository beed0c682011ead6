"""SNPS and SMPE are as requested, measured again by an engine and by the oracle."""

import json
from dataclasses import replace

import pytest
from tamis_lab.workloads.atree2004 import Workload
from tamis_lab.workloads.atree2004.calibration import SteeredWorkload, steer_workload
from tamis_lab.workloads.atree2004.matched_fraction import SubscriptionSample
from tamis_lab.workloads.atree2004.shared_fraction import sample_of, shared_fraction

from tamis.engines.atree import AtreeEngine
from tamis.engines.subscription import Subscription
from tamis.errors import InputError
from tamis.language.evaluate import evaluate
from tamis.matcher import Matcher
from tests.soak import only_in_soak

# The thesis: §5.4, §5.5, §5.6, §5.7 to §5.9; then a random relation, §5.2.2.
TARGETS = [
    ({"relation": "="}, 0.375, 0.005),
    ({"relation": ">", "operators": "disjunctive"}, 0.5, 0.135),
    ({"relation": ">", "operators": "mixed"}, 0.175, 0.2),
    ({"relation": ">"}, 0.35, 0.45),
    ({"relation": ">"}, 0.35, 0.75),
    ({"relation": "any"}, 0.35, 0.02),
    ({"relation": "any", "operators": "mixed"}, 0.35, 0.3),
]
SMALL = Workload(subscriptions=60, predicates=5, shared_predicates=2, values=20, pool=3)


def counted(found: SteeredWorkload, subscriptions: int, events: int, start: int = 0) -> float:
    matcher = Matcher()
    matcher.add_many(enumerate(found.selectors(0, subscriptions)))
    matches = matcher.match_batch(found.events(events, start))
    return len(matches) / subscriptions / events


@pytest.mark.parametrize(
    "length", [6, *(pytest.param(more, marks=only_in_soak) for more in (10, 14))]
)
@pytest.mark.parametrize(("parameters", "snps", "smpe"), TARGETS)
def test_snps_and_smpe_are_as_requested(
    length: int, parameters: dict, snps: float, smpe: float
) -> None:
    found = steer_workload(
        subscriptions=500, predicates=length, snps=snps, smpe=smpe, events=512, **parameters
    )
    assert found.snps == pytest.approx(snps, abs=0.02)
    assert found.smpe == pytest.approx(smpe, abs=min(0.02, smpe / 5))
    assert found.workload.predicates == length
    # By another engine: on the same events, and on events that nobody has looked at.
    assert counted(found, 500, 512) == pytest.approx(found.smpe, abs=1e-9)
    assert counted(found, 500, 1024, 5000) == pytest.approx(smpe, abs=max(0.004, 0.15 * smpe))


@pytest.mark.parametrize("operators", ["conjunctive", "disjunctive", "mixed"])
def test_snps_agrees_with_the_engine(operators: str) -> None:
    found = steer_workload(
        subscriptions=1500, predicates=8, snps=0.4, relation=">", operators=operators
    )
    engine = AtreeEngine("general")
    for number, text in enumerate(found.selectors()):
        engine.add(Subscription.of(number, text))
    assert engine.stats()["snps_internal"] == pytest.approx(0.4, abs=0.02)
    # Leaves of conjunctions are in another order there, which arranges some in other ways.
    near = 0.01 if operators == "conjunctive" else 1e-9
    assert engine.stats()["snps_internal"] == pytest.approx(found.snps, abs=near)


@pytest.mark.parametrize(
    "values", [20_000, *(pytest.param(v, marks=only_in_soak) for v in (1_000, 2_000_000))]
)
@pytest.mark.parametrize("subscriptions", [20_000, pytest.param(60_000, marks=only_in_soak)])
def test_a_sample_shares_as_much_as_the_whole(values: int, subscriptions: int) -> None:
    workload = Workload(
        subscriptions=subscriptions, predicates=10, shared_predicates=4, values=values, pool=4
    )
    sample = sample_of(workload)
    assert sample.subscriptions < subscriptions
    assert shared_fraction(sample) == pytest.approx(shared_fraction(workload), abs=0.005)


@pytest.mark.parametrize("relation", ["=", ">", "any"])
@pytest.mark.parametrize("operators", ["conjunctive", "disjunctive", "mixed"])
def test_smpe_agrees_with_the_oracle(operators: str, relation: str) -> None:
    workload = replace(SMALL, operators=operators, relation=relation)
    drawn = {"matching": 0.4, "scale": 1.5, "least": 3}
    found = SubscriptionSample(workload, 100).matched_fraction(workload.event_arrays(80, **drawn))
    events = workload.events(80, **drawn).rows()
    matches = [evaluate(e, event) is True for e in workload.expressions() for event in events]
    assert found == sum(matches) / len(matches) > 0


def test_the_same_request_gives_the_same_workload() -> None:
    request = {"subscriptions": 3000, "predicates": 6, "relation": ">", "snps": 0.3, "smpe": 0.2}
    found = steer_workload(**request)
    assert steer_workload(**request) == found
    again = SteeredWorkload.of(json.loads(json.dumps(found.knobs())))
    assert again == found
    assert again.events(50, 7).rows() == found.events(57).rows()[7:]
    assert list(again.selectors(5, 9)) == list(found.selectors())[5:14]


def test_given_parameters_are_not_changed() -> None:
    found = steer_workload(
        subscriptions=3000, predicates=8, shared_predicates=3, overlap=0.9, pool=7, values=50_000,
        relation=">", seed=5, snps=0.4, smpe=0.1, least=12,
    )  # fmt: skip
    kept = found.workload
    assert (kept.shared_predicates, kept.overlap, kept.pool, kept.seed) == (3, 0.9, 7, 5)
    assert kept.values == 50_000 and found.drawn.least == 12
    assert found.snps == pytest.approx(0.4, abs=0.02)


def test_snps_and_smpe_are_optional() -> None:
    found = steer_workload(subscriptions=500, predicates=6, events=1000)
    assert 0 < found.snps < 1 and found.smpe == pytest.approx(counted(found, 500, 1000), abs=1e-9)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"snps": 0.99}, r"snps: cannot be 99.0% here; .*% to 9[45]\.\d% can be reached"),
        ({"snps": 0.1, "overlap": 1.0, "shared_predicates": 5}, r"snps: cannot be 10.0% here; 8"),
        ({"smpe": 0.5, "repeated": 0.1}, r"smpe: cannot be 50.00% here; about .* the relation >"),
        ({"smpe": 0.9, "relation": ">", "least": 6}, r"smpe: .* a higher `least` for more"),
        ({"snps": 1.5}, "snps: must be 0 to 1"),
        ({"smpe": -1}, "smpe: must be 0 to 1"),
        ({"predicates": 1}, "predicates: must be 2 or more"),
        ({"tolerance": 0}, "tolerance"),
    ],
)
def test_unreachable_requests_are_refused(request_: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        steer_workload(**{"subscriptions": 2000, "predicates": 6, **request_})


# -- any relation ---------------------------------------------------------------------------------


def test_every_relation_is_as_frequent() -> None:
    workload = Workload(subscriptions=3000, predicates=6, shared_predicates=2, relation="any")
    numbers = workload.conjunctions()
    for place in range(6):
        assert (workload.table.places(numbers) == place).mean() == pytest.approx(1 / 6, abs=0.04)
    assert {"<=", "<", ">=", ">", "=", "<>"} == {
        part.split()[1] for text in workload.selectors(0, 50) for part in text.split(" AND ")
    }


@pytest.mark.parametrize("operators", ["conjunctive", "disjunctive", "mixed"])
def test_events_made_for_any_relation_match(operators: str) -> None:
    workload = replace(SMALL, relation="any", operators=operators, overlap=1.0, repeated=1.0)
    expressions = list(workload.expressions())
    for event in workload.events(100, matching=1.0).rows():
        assert any(evaluate(expression, event) is True for expression in expressions)

"""The first rows of every workload are the same on every machine: golden checksums.

A change here is a change of the workload: figures measured before it can no longer be compared.
"""

import hashlib
import json

import pytest
from tamis_lab.workloads.atree2004.calibration import steer_workload
from tamis_lab.workloads.workload_catalogue import NAMES, workload_by_name

SELECTORS = {
    "atree2004": "e9d583195da1420e",
    "bdd2001": "c153a687eb2e0a2c",
    "bloom2008": "6d9b5ffafb6dfcdf",
    "flights": "5b04fb9eb40c153b",
    "nulls": "60d23daa09d63175",
    "selective": "227bdfb3ed992f0d",
    "texts": "07931fcd7a3dbaa5",
    "atree2004-mixed": "2379fc8ea2d7e2af",
    "atree2004-any": "fc15b437809e85f4",
    "bdd2001-grammar": "120f4ffff54d0f30",
    "bloom2008-pareto": "68cf105fa2f8bf9a",
}
EVENTS = {
    "atree2004": "7c78a7e73978388a",
    "bdd2001": "0da3a75bc49467ff",
    "bloom2008": "771bece05bdfdaa1",
    "flights": "4e0c00aa6110eb2f",
    "nulls": "233779b96638ace4",
    "selective": "6472a726ad1ae2ad",
    "texts": "ccea4e6b7cd57bec",
    "atree2004-mixed": "3d355746da495140",
    "atree2004-any": "d9e417ace3fbc994",
    "bdd2001-grammar": "75166a808045a641",
    "bloom2008-pareto": "25a6f36bdc9af824",
}
STEERED = "0ee441cb3771d1eb"
PARAMETERS = {
    "atree2004-mixed": {"operators": "mixed", "relation": ">", "predicates": 10},
    "atree2004-any": {"operators": "disjunctive", "relation": "any", "values": 2_000_000},
    "bdd2001-grammar": {"form": "grammar", "density": 0.4},
    "bloom2008-pareto": {"choice": "pareto", "predicates": (1, 1)},
}
ALL = [*NAMES, *PARAMETERS]


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", ALL)
def test_subscriptions(name: str) -> None:
    # The end of a block, and the beginning of the next.
    listed = workload_by_name(name.split("-")[0], None, 20_000, PARAMETERS.get(name))
    rows = [
        tuple(row.values())
        for at in (0, 16_300)
        for row in listed.subscriptions(at, 200).to_pylist()
    ]
    assert checksum(json.dumps(rows)) == SELECTORS[name]


@pytest.mark.parametrize("name", ALL)
def test_events(name: str) -> None:
    listed = workload_by_name(name.split("-")[0], parameters=PARAMETERS.get(name))
    rows = [listed.table(at, 200).to_pylist() for at in (0, 16_300)]
    assert checksum(json.dumps(rows, default=str)) == EVENTS[name]


def test_steering() -> None:
    found = steer_workload(
        subscriptions=2000, predicates=8, relation=">", snps=0.4, smpe=0.3, events=1024
    )
    knobs = json.dumps(found.knobs(), sort_keys=True)
    assert checksum(knobs) == STEERED

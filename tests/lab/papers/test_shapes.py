"""What the papers state of nodes, memory and filters, at small scale; no seconds.

Seconds are for `tamis bench papers`, whose report holds them to the same claims.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tamis_lab.bench.growth import exponent
from tamis_lab.papers import bdd_points, bloom_points, thesis_points
from tamis_lab.papers.spec import Point

from tamis.bloom.filter import Bloom
from tamis.bloom.filter_codec import DENSE, SPARSE, encode_filter
from tamis.bloom.hashing import Shape
from tests.soak import only_in_soak


@cache
def tree(engine: str, n: int, snps: float, relation: str, smpe: float) -> dict[str, Any]:
    asked = {"subscriptions": n, "predicates": 14, "relation": relation, "snps": snps, "smpe": smpe}
    found = thesis_points.prepare_workload(asked)
    point = Point("thesis", {"engine": engine, "round_s": 0.0, **asked})
    return thesis_points.measure_engine(point.parameters, found)


# -- the diagrams ---------------------------------------------------------------------------------


def test_nodes_grow_linearly_and_restriction_saves_two_fifths() -> None:
    pytest.importorskip("dd.cudd")
    sizes = (200, 400, 800)
    rows = [bdd_points.nodes({"queries": n, "order": "attribute"}) for n in sizes]
    for name in ("nodes_before", "nodes_after"):
        nodes = [float(row[name]) for row in rows]  # type: ignore[arg-type]
        assert exponent(sizes, nodes) == pytest.approx(1.0, abs=0.1)
        # The paper has 7.2 and 4.4 of each query at 25,000.
        assert 4 < nodes[-1] / sizes[-1] < 10
    assert all(1.55 < float(row["factor"]) < 1.95 for row in rows)  # type: ignore[arg-type]


def test_the_order_of_variables_hardly_matters() -> None:
    pytest.importorskip("dd.cudd")
    first, second = (
        bdd_points.nodes({"queries": 300, "order": order})["nodes_after"]
        for order in ("attribute", "random")
    )
    assert first == pytest.approx(second, rel=0.1)


# -- the tree -------------------------------------------------------------------------------------


@only_in_soak
def test_overlap_saves_nodes_and_memory() -> None:
    little, much = (tree("atree", 1_000, snps, ">", 0.375) for snps in (0.2, 0.6))
    assert (little["snps_internal"], much["snps_internal"]) == pytest.approx((0.2, 0.6), abs=0.02)
    assert (little["smpe"], much["smpe"]) == pytest.approx((0.375, 0.375), abs=0.03)
    for metric in ("nodes", "bytes tvp"):
        assert little[metric] / much[metric] > 1.3


@only_in_soak
def test_counting_takes_the_least_memory_and_queues_take_more() -> None:
    asked = (1_000, 0.375, "=", 0.0025)
    trees, counting, gryphon = (tree(name, *asked) for name in ("atree", "counting", "gryphon"))
    assert counting["bytes"] < trees["bytes tvp"] < trees["bytes general"]
    assert counting["bytes"] < gryphon["bytes"]
    assert trees["bytes general"] == trees["bytes zero-suppression"]


def test_four_million_would_fit_into_what_the_thesis_had() -> None:
    few, many = (tree("atree", n, 0.375, "=", 0.0025) for n in (1_000, 4_000))
    each = (many["bytes tvp"] - few["bytes tvp"]) / 3_000
    # 1.6 gigabytes for four million are 400 bytes each; sharing grows with the number.
    assert each < 800


# -- the filters ----------------------------------------------------------------------------------


def test_false_positive_rates_agree_with_equation_10() -> None:
    row = bloom_points.probability({"log2_m": 12, "elements": [1_000], "trials": 20_000})
    assert row["measured_1000"] == pytest.approx(0.14, abs=0.01)


def test_thirteen_deliveries_per_event_and_none_missing() -> None:
    asked = {"subscriptions": 1_000, "log2_m": 12, "events": 2_000}
    row = bloom_points.false_positives(asked)
    assert row["notified_4"] == pytest.approx(13 * 2_000, rel=0.2)
    assert row["false_negatives_2"] == row["false_negatives_4"] == 0
    assert row["false_positives_4"] <= row["false_positives_2"]  # type: ignore[operator]


def test_names_of_skewed_frequency_set_more_bits() -> None:
    uniform, pareto = (
        bloom_points.predicates({"subscriptions": 1_000, "names": 20_000, "choice": choice})
        for choice in ("uniform", "pareto")
    )
    assert pareto["bits_per_event"] > 10 * uniform["bits_per_event"]  # type: ignore[operator]
    assert pareto["fill_percent"] < 3  # type: ignore[operator]


def test_the_sparse_form_is_the_smaller_up_to_where_the_paper_has_the_two_cross() -> None:
    shape = Shape(1 << 14, 2)
    rng = np.random.default_rng(2008)

    def form(bits: int) -> int:
        places = np.sort(rng.choice(shape.m, bits, replace=False))
        return encode_filter(shape, Bloom.at(shape, places.tolist()).bits)[0]

    crossing = shape.m // 14  # m / log2(m), §4.5; ours notes distances, and is smaller for longer
    assert form(crossing // 10) == form(crossing) == SPARSE
    assert form(shape.m // 4) == DENSE

"""Subscribers and publishers spread over a network."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from tamis_lab.workloads.overlay_workload import OverlayWorkload

from tamis.errors import InputError


def test_a_part_is_the_same_wherever_it_lies() -> None:
    workload = OverlayWorkload(brokers=7, subscriptions=20_000)
    whole = workload.subscriptions_table()
    assert whole.num_rows == 20_000
    assert workload.subscriptions_table(16_000, 900).equals(whole.slice(16_000, 900))
    events = workload.events_table(17_000)
    assert workload.events_table(700, 16_200).equals(events.slice(16_200, 700))
    assert OverlayWorkload(brokers=7, subscriptions=20_000, seed=1).events_table(9) != events.slice(
        0, 9
    )


def test_brokers_near_each_other_want_the_same() -> None:
    workload = OverlayWorkload(brokers=40, subscriptions=40_000)
    table = workload.subscriptions_table()
    brokers, selectors = table["broker"].to_pylist(), table["selector"].to_pylist()
    assert set(brokers) == set(range(40))
    wanted = defaultdict(set)
    for broker, selector in zip(brokers, selectors, strict=True):
        wanted[broker].add(selector)
    near = np.mean([len(wanted[b] & wanted[b + 1]) for b in range(39)])
    far = np.mean([len(wanted[b] & wanted[(b + 20) % 40]) for b in range(40)])
    assert near > 2 * far
    # And some are wanted by many.
    ((_, most),) = Counter(selectors).most_common(1)
    assert most > 5 * len(selectors) / len(set(selectors))


def test_selectors_are_written_in_one_way() -> None:
    texts = set(
        OverlayWorkload(brokers=3, subscriptions=3_000)
        .subscriptions_table()["selector"]
        .to_pylist()
    )
    assert all(text.split(" AND ") == sorted(text.split(" AND ")) for text in texts)
    assert {text.count(" AND ") for text in texts} == {0, 1, 2, 3}


def test_parameters_out_of_range_are_refused() -> None:
    for wrong in ({"brokers": 0}, {"local": 2.0}, {"spread": 0.0}, {"selectors": 0}):
        with pytest.raises(InputError):
            OverlayWorkload(**{"brokers": 2, "subscriptions": 10, **wrong})

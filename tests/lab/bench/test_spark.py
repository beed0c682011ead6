"""The parts of `tamis bench spark` that need no Spark: what is compared means the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from tamis_lab.bench.growth import draw, fit_line
from tamis_lab.bench.spark_today import _test_rows
from tamis_lab.workloads.selective import SelectiveWorkload

from tamis import Matcher


def test_exploded_rules_mean_the_same() -> None:
    workload = SelectiveWorkload(subscriptions=200, attributes=8, values=20, width=8)
    texts = list(workload.selectors())
    matcher = Matcher()
    matcher.add_many(list(enumerate(texts)))
    batch = workload.events(200)
    tests: dict[int, list[tuple[str, int, int]]] = {}
    for row in _test_rows(texts).to_pylist():
        tests.setdefault(row["subscription"], []).append(
            (row["attribute"], row["low"], row["high"])
        )
        assert row["wanted"] == texts[row["subscription"]].count("a")
    expected = {
        (n, id)
        for n, event in enumerate(batch.rows())
        for id, found in tests.items()
        if all(low <= event[name] <= high for name, low, high in found)  # type: ignore[operator]
    }
    assert set(matcher.match_batch(batch)) == expected
    assert expected


def test_growth_is_fitted_and_drawn(tmp_path: Path) -> None:
    pytest.importorskip(
        "matplotlib", reason="matplotlib is not installed: pip install 'tamis-lab[bench]'"
    )
    fit = fit_line([1e3, 1e4, 1e5], [2.0, 20.0, 200.0])
    assert fit.fixed == pytest.approx(0.0) and fit(1e6) == pytest.approx(2000.0)
    names = ("compile_s", "match_s", "index_mb", "worker_private_mb")
    rows = [
        {"subscriptions": n, "executors": e, **dict.fromkeys(names, n / 100 / e)}
        for e in (1, 2)
        for n in (1000, 10_000)
    ]
    assert len(draw(rows, tmp_path)) == 8
    assert (tmp_path / "spark-growth.svg").stat().st_size > 1000

"""Results on disk: written at once, read back, and resumed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tamis_lab.papers.results import Results
from tamis_lab.papers.spec import Curve, CurvePoint, CurveValue, Figure, Point

from tamis.errors import InputError

POINTS = [Point("kind", {"subscriptions": n}) for n in (1, 2, 3)]


def line(point: Point, **found: object) -> dict[str, object]:
    about = {"key": point.key, "kind": point.kind, "parameters": dict(point.parameters)}
    return {"table": "runs", **about, **found}


def test_written_results_are_read_back(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "results.jsonl"
    first = Results.open(file)
    first.begin("small")
    first.add(line(POINTS[0], metrics={"rate": 5.0}, machine={"cores": 2}))
    first.add(line(POINTS[1], failed="took too long"))
    first.add({"table": "workloads", "key": "w", "found": {"snps": 0.4}})
    again = Results.open(file)
    assert again == first
    assert again.scale == "small" and again.machine == {"cores": 2}
    assert again.workloads == {"w": {"snps": 0.4}}
    assert again.missing([*POINTS, POINTS[2]]) == POINTS[1:]  # a failed one is tried again
    assert again.metrics(POINTS[0]) == {"rate": 5.0} and again.metrics(POINTS[1]) is None


def test_an_incomplete_line_is_measured_again(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    results = Results.open(file)
    for point in POINTS[:2]:
        results.add(line(point, metrics={}))
    whole = file.read_text()
    file.write_text(whole[:-10])
    results = Results.open(file)
    assert results.missing(POINTS) == POINTS[1:]
    results.add(line(POINTS[1], metrics={}))
    assert file.read_text() == whole


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text('{"table": "runs"}\nrubbish\n')
    with pytest.raises(InputError, match=r"results.jsonl:1: is not a result"):
        Results.open(file)


def test_two_scales_do_not_mix(tmp_path: Path) -> None:
    results = Results.open(tmp_path / "results.jsonl")
    results.begin("small")
    results.begin("small")
    with pytest.raises(InputError, match="'small'"):
        results.begin("paper")


def test_curves_and_gaps() -> None:
    results = Results()
    results.add(line(POINTS[0], metrics={"rate": 5, "rate low": 4, "rate high": 7}))
    results.add(line(POINTS[1], failed="took too long"))
    results.add(line(POINTS[2], metrics={"refused": "XOR is not supported"}))
    places = [CurvePoint(point.size, point, "rate") for point in POINTS]
    places += [CurvePoint(n, Point("kind", {"subscriptions": n}), "rate") for n in (4, 1_000_000)]
    figure = Figure("bdd", "1", "t", "x", "y", (Curve("c", tuple(places)),))
    assert results.curves(figure) == {"c": [CurveValue(1, 5, 4, 7)]}
    assert list(results.gaps(figure)) == [
        "c at 2: took too long",
        "c at 3: XOR is not supported",
        "c at 4, 1,000,000: not measured",
    ]

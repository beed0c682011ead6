"""The report: every figure, every claim, also those that fail or are undecided."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from tamis_lab.papers import runner
from tamis_lab.papers.figure_catalogue import figures
from tamis_lab.papers.paper_report import write
from tamis_lab.papers.results import Results
from tamis_lab.papers.spec import Point
from tamis_lab.papers.verdicts import figure_results, tally

from tests.cli.command import run

WANT_PLOTS = pytest.mark.skipif(not find_spec("matplotlib"), reason="plots need Matplotlib")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Invented results of all points, except those of the Bloom filter paper."""
    file = tmp_path_factory.mktemp("results") / "results.jsonl"
    results = Results.open(file)
    results.begin("small")
    found: dict[str, dict[str, float]] = {}
    points = {}
    for figure in figures("small"):
        if figure.paper == "bloom":
            continue
        for curve in figure.curves:
            for x, point, metric in curve.places:
                points[point.key] = point
                found.setdefault(point.key, {})[metric] = 1000.0 + len(metric) * x
    for key, point in points.items():
        about = {"key": key, "kind": point.kind, "parameters": dict(point.parameters)}
        machine = {"cores": 2, "load": 0.5}
        results.add({"table": "runs", **about, "metrics": found[key], "machine": machine})
    return file


def test_every_figure_and_claim_is_on_the_page(file: Path, tmp_path: Path) -> None:
    results = Results.open(file)
    written = write(results, "small", tmp_path, plots=False)
    page, text = (path.read_text("utf-8") for path in (written.page, written.markdown))
    found = figure_results(results, "small")
    for one in found:
        assert f"<h3 id='{one.figure.name}'>" in page
        assert f"### {one.figure.number}: {one.figure.title}" in text
        for claim, verdict in one.verdicts:
            assert claim.text in text and verdict.evidence in text
    hold, fail, unknown = (written.tally[kind] for kind in (True, False, None))
    assert hold and fail and unknown
    assert text.count("**holds**") == hold
    assert text.count("**FAILS**") == fail
    assert text.count("**undecided**") == unknown
    assert f"Of {hold + fail + unknown} claims of the papers, {hold} hold here, {fail} fail" in text
    assert "bfposet + sbstree at 1,000" in text  # gaps are listed
    assert tally(found) == written.tally


def test_growth_is_fitted(file: Path, tmp_path: Path) -> None:
    text = write(Results.open(file), "small", tmp_path, plots=False).markdown.read_text("utf-8")
    grows = text[text.index("## Growth") :]
    assert "| block (ours) | power" in grows
    assert "| bytes by subscriptions, =, L = 10 | block (ours) | 1e+03 + 5·n" in grows
    assert "counting, 20,000 subscriptions" in grows


def test_a_figure_of_zero_is_not_fitted(file: Path, tmp_path: Path) -> None:
    """As for a structure that is still empty."""
    results = Results.open(file)
    for line in results.lines.values():
        metrics = line["metrics"]
        assert isinstance(metrics, dict)
        if line["kind"] == "thesis" and line["parameters"]["engine"] == "block":  # type: ignore[index]
            metrics["bytes"] = 0.0
    text = write(results, "small", tmp_path, plots=False).markdown.read_text("utf-8")
    assert "| bytes by subscriptions, =, L = 10 | block" not in text


@WANT_PLOTS
def test_plots_are_drawn_as_svg_and_png(file: Path, tmp_path: Path) -> None:
    results = Results.open(file)
    few = Results(lines={key: line for key, line in results.lines.items() if "bdd" in key})
    few.machine = results.machine
    written = write(few, "small", tmp_path)
    plots = tmp_path / "plots"
    assert (plots / "bdd-table-1.svg").exists() and (plots / "bdd-table-1.png").exists()
    assert not list(plots.glob("atree-*"))  # there is nothing to draw
    page = written.page.read_text("utf-8")
    assert page.count("<svg") == 3 and "<?xml" not in page  # inside, so that it is one file
    assert "![Nodes of the shared diagram](plots/bdd-table-1.svg)" in written.markdown.read_text()
    first = (plots / "bdd-table-1.svg").read_bytes()
    write(few, "small", tmp_path)
    assert (plots / "bdd-table-1.svg").read_bytes() == first  # no dates: the same again


def test_the_command_writes_a_report(file: Path, tmp_path: Path) -> None:
    done = run("bench", "report", str(file), "--out", str(tmp_path / "out"), "--no-plots")
    assert done.exit_code == 0 and "claims of the papers" in done.stdout
    assert (tmp_path / "out" / "report.html").exists()


def test_the_command_refuses_missing_and_empty_files(tmp_path: Path) -> None:
    done = run("bench", "report", str(tmp_path / "none.jsonl"), "--no-plots")
    assert done.exit_code == 2 and "tamis bench papers --out" in done.stderr
    (tmp_path / "empty.jsonl").touch()
    done = run("bench", "report", str(tmp_path / "empty.jsonl"), "--no-plots")
    assert done.exit_code == 2 and "names no scale" in done.stderr


def test_papers_measures_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the command; measuring a point has its own tests."""

    def measured(point: Point, prepared: object) -> dict[str, object]:
        about = {"key": point.key, "kind": point.kind, "parameters": dict(point.parameters)}
        return {"table": "runs", **about, "metrics": {"measured_10": 1.0}}

    monkeypatch.setattr(runner, "measure_point", measured)
    kept = tmp_path / "kept.jsonl"
    asked = ("bench", "papers", "bloom:5", "--out", str(kept))
    done = run(*asked)
    assert done.exit_code == 0 and "1 figures, 5 points, 5 to measure" in done.stderr
    assert len(Results.open(kept).lines) == 5
    assert "0 to measure" in run(*asked).stderr
    assert run(*asked, "--scale", "paper").exit_code == 2

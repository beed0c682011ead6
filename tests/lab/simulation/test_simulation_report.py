"""`tamis simulate`: lines of results, and the report of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tamis_lab.simulation.peak_memory import PeakMemory
from tamis_lab.simulation.simulation_claims import claims
from tamis_lab.simulation.simulation_report import write as write_report
from tamis_lab.simulation.simulation_run import read, write
from tamis_lab.simulation.sizes import SCALES, SimulationSizes

from tamis.errors import InputError
from tests.cli.command import run

RESULTS = Path(__file__).parents[3] / "results" / "simulate.jsonl"


def test_unknown_strategies_and_topologies_are_refused() -> None:
    with pytest.raises(InputError, match="unknown strategy 'magic'; one of flooding"):
        SimulationSizes(brokers=2, subscriptions=2, events=2, strategies=("magic",))
    with pytest.raises(InputError, match="name at least one"):
        SimulationSizes(brokers=2, subscriptions=2, events=2, topologies=())
    done = run("simulate", "--topology", "ring")
    assert done.exit_code == 2 and "one of line, star, balanced, random" in done.stderr
    assert SCALES["large"].brokers == 1000


def test_lines_of_another_run_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "new" / "lines.jsonl"
    write(file, [{"run": "a", "x": 1}, {"run": "a", "x": 2}])
    write(file, [{"run": "b", "x": 3}])
    write(file, [{"run": "a", "x": 4}])
    assert [line["x"] for line in read(file)] == [3, 4]


def test_the_docs_have_the_report_of_the_recorded_results(tmp_path: Path) -> None:
    """The report in the documentation is generated from the recorded results."""
    lines = read(RESULTS)
    page = write_report(lines, "large", tmp_path, drawn=False)
    kept = (RESULTS.parents[1] / "docs" / "simulation" / "report.md").read_text("utf-8")
    without = "\n".join(line for line in kept.splitlines() if not line.startswith("!["))
    squeezed = [text.replace("\n\n\n", "\n\n") for text in (without, page.read_text("utf-8"))]
    assert squeezed[0].split() == squeezed[1].split()
    with pytest.raises(InputError, match="no run 'huge'"):
        write_report(lines, "huge", tmp_path)


def test_a_failed_claim_is_reported() -> None:
    lines = read(RESULTS)
    about = next(x for x in lines if x["run"] == "large" and x["kind"] == "run")
    strategies = [x for x in lines if x["run"] == "large" and x["kind"] == "strategy"]
    verdicts = {claim: holds for holds, claim, _ in claims(about, strategies, lines)}
    assert verdicts["There are no false negatives (§6.3)."] == "holds"
    broken = [{**x, "deliveries_in_all": n} for n, x in enumerate(strategies)]
    broken = [{**x, "evaluations": 2.0} for x in broken]
    for holds, claim, _ in claims(about, broken, lines):
        if "negatives" in claim or "once per event" in claim:
            assert holds == "does not hold"


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs smaps_rollup")
def test_peak_memory_is_sampled() -> None:
    with PeakMemory().watch() as peak:
        held = bytearray(1 << 20)
    assert peak.bytes > len(held)

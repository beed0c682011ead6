"""The demo from start to end, phase by phase; each phase is timed."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path

from tamis.spark import Compiled
from tamis_lab.demo.check import CheckResult, check_answers
from tamis_lab.demo.demo_data import Input, prepare_input
from tamis_lab.demo.demo_job import Folders, compile_alerts, run_stream, start_spark
from tamis_lab.demo.demo_report import ReportData, write_report
from tamis_lab.demo.live_table import LiveTable
from tamis_lab.demo.screen import Screen
from tamis_lab.demo.totals import Totals, totals
from tamis_lab.workloads.flights import Flights

_TOP = 10
_REJECT = ("id", "selector", "position", "reason")


def run(out: Path, alerts: int, events: int) -> bool:
    """Match the first `events` departures against alerts; return whether the check succeeded.

    The report goes to the folder `out`; everything else is temporary.
    """
    screen = Screen()
    workload = Flights(alerts=alerts)
    screen.say(
        f"{alerts:,} alerts are compiled on Spark, {events:,} departures are matched as a stream, "
        "and a sample of the answers is checked: a few minutes, less with fewer (--help)."
    )
    with ExitStack() as stack:
        # A file that Spark still holds open is no reason to fail.
        scratch = tempfile.TemporaryDirectory(prefix="tamis-demo-", ignore_cleanup_errors=True)
        folders = Folders(Path(stack.enter_context(scratch)))
        with screen.phase("draw alerts, write departures"):
            given = prepare_input(workload, events, folders.scratch)
            screen.say(f"{alerts:,} alerts, {events:,} departures in {len(given.pieces)} files")
        with screen.phase("start Spark", "a Java process: some 10 seconds"):
            spark = stack.enter_context(start_spark(folders))
        about = "Spark starts Python processes, and they load the kernels: half a minute"
        with screen.phase("compile the alerts", about):
            made = compile_alerts(
                spark, given.alerts_file, given.pieces[0], workload.schema, folders
            )
            rejects = [tuple(row) for row in made.rejects.orderBy("id").collect()]
            screen.say(f"version {made.version}: {made.subscriptions:,} alerts")
            screen.say(f"{len(rejects)} were rejected:")
            screen.rows(_REJECT, rejects)
        about = "half of the files wait for version 2 of the alerts"
        live = LiveTable(screen, len(given.pieces))
        with screen.phase("match the departures", about), live:
            batches, remade = run_stream(spark, given.pieces, given.changes_file, folders, live)
        with screen.phase("count the answers"):
            counted = totals(spark, folders.answers)
        with screen.phase("check the answers", "a sample of them, in this process, two ways"):
            known = {made.version: given.alerts, remade.version: given.changed}
            verdict = check_answers(spark, given.events, workload.schema, known, folders)
    top = counted.top(_TOP, given.selector)
    facts = _facts(given, remade, counted, sum(b.seconds for b in batches), verdict)
    screen.say("\nAlerts with most matches (one of each group with the same selector)")
    screen.rows(("alert", "matches", "selector"), top)
    screen.say("")
    screen.rows(("", ""), facts)
    data = ReportData(facts, batches, counted, given.alert_count, top, rejects, screen.seconds)
    screen.say(f"\nreport: {write_report(data, out)}")
    return verdict.equal


def _facts(
    given: Input, remade: Compiled, counted: Totals, seconds: float, verdict: CheckResult
) -> list[tuple[str, str]]:
    rate = counted.events / seconds
    by_matcher, by_oracle = verdict.verdicts()
    facts = [
        ("departures", f"{counted.events:,}; {rate:,.0f} per second"),
        ("matches", f"{counted.matches:,}"),
        ("alerts", f"{len(given.alerts):,}; after the changes {remade.subscriptions:,}"),
    ]
    for version, (events, matches) in sorted(counted.versions.items()):
        facts.append((f"by version {version}", f"{events:,} departures, {matches:,} matches"))
    return [
        *facts,
        ("compared with the matcher of each version", by_matcher),
        ("compared with the oracle, pair by pair", by_oracle),
    ]

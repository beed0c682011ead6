"""The report of the demo: one self-contained HTML file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import NamedTuple

from tamis_lab.demo.bar_charts import Bar, bars
from tamis_lab.demo.micro_batches import Batch, span
from tamis_lab.demo.totals import Totals


class ReportData(NamedTuple):
    """The content of the report.

    Attributes:
        facts: The summary, as names and values.
        batches: All micro-batches.
        totals: Matches by day, version and alert.
        alerts: Number of alerts in all versions together.
        top: The alerts with most matches: id, matches, selector.
        rejects: The rejected alerts: id, selector, position, reason.
        seconds: Duration of each phase.
    """

    facts: list[tuple[str, str]]
    batches: list[Batch]
    totals: Totals
    alerts: int
    top: list[tuple[str, int, str]]
    rejects: list[tuple[str, str, int | None, str]]
    seconds: dict[str, float]


_STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5d6b7a; --line: #dde3e9;
  --paper: #fff; --v1: #4a7ba6; --v2: #d98236; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ee; --soft: #9aa7b4; --line: #37424d;
  --paper: #171c21; --v1: #6fa3d0; --v2: #e79b57; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 900px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .4rem; }
p { color: var(--soft); margin: .2rem 0 .6rem; }
table { border-collapse: collapse; width: 100%; font-size: 13px; }
th, td { text-align: left; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font: 12px ui-monospace, monospace; overflow-wrap: anywhere; }
svg { width: 100%; height: auto; } svg text { font-size: 11px; fill: var(--soft); }
svg line { stroke: var(--line); } .v1 { fill: var(--v1); } .v2 { fill: var(--v2); }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em; }
.key.v1 { background: var(--v1); } .key.v2 { background: var(--v2); }
"""

_KEY = '<span class="key v1"></span>version 1<span class="key v2"></span>version 2'


def write_report(data: ReportData, folder: Path) -> Path:
    """Write the report and return its file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "index.html"
    file.write_text(_page(data), encoding="utf-8")
    return file


def _page(data: ReportData) -> str:
    second = next((batch.first for batch in data.batches if batch.version > 1), None)
    days = [
        Bar(
            matches,
            f"{day:%d %b}: {matches:,} matches",
            f"{day:%b}" if day.day == 1 else "",
            "v1" if second is None or day < second else "v2",
        )
        for day, matches in data.totals.days.items()
    ]
    rates = [
        Bar(
            batch.events_per_second,
            f"micro-batch {batch.number}, {span(batch)}: {batch.events_per_second:,.0f} events/s",
            str(batch.number) if batch.number == 1 or batch.number % 5 == 0 else "",
            f"v{min(batch.version, 2)}",
        )
        for batch in data.batches
    ]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Tamis demo</title>',
        '<meta name="viewport" content="width=device-width">',
        f"<style>{_STYLE}</style></head><body>",
        "<h1>Departures from New York in 2013, matched against alerts</h1>",
        "<p>Compiled and matched on Spark, as a stream; alerts changed while it ran.</p>",
        _table((), data.facts),
        f"<h2>Matches per day</h2><p>Index: {_KEY}</p>",
        bars(days, "day of scheduled departure", "matches"),
        f"<h2>Events per second, by micro-batch</h2><p>Index: {_KEY}</p>",
        bars(rates, "micro-batch", "events/s"),
        "<h2>Matches per alert</h2><p>Number of alerts by how many departures they matched.</p>",
        bars(_distribution(data), "matches of an alert", "alerts"),
        "<h2>Alerts with most matches</h2><p>One of each group with the same selector.</p>",
        _table(("alert", "matches", "selector"), ((a, n, _Code(s)) for a, n, s in data.top)),
        f"<h2>Rejected alerts</h2><p>{len(data.rejects)} rejected; the others were compiled.</p>",
        _table(
            ("alert", "selector", "position", "reason"),
            ((id, _Code(selector), at, why) for id, selector, at, why in data.rejects),
        ),
        "<h2>Micro-batches</h2>",
        _table(
            ("micro-batch", "days", "events", "matches", "seconds", "events/s", "index"),
            (
                (b.number, span(b), b.events, b.matches, f"{b.seconds:.2f}",
                 round(b.events_per_second), f"version {b.version}")
                for b in data.batches
            ),
        ),
        "<h2>Seconds by phase</h2>",
        _table((), ((name, f"{seconds:.1f}") for name, seconds in data.seconds.items())),
        "</body></html>",
    ]  # fmt: skip
    return "\n".join(parts) + "\n"


def _distribution(data: ReportData) -> list[Bar]:
    """Count alerts by number of matches: 0, 1, 2 to 3, 4 to 7 and so on."""
    counts = Counter(number.bit_length() for number in data.totals.alerts.values())
    counts[0] = data.alerts - len(data.totals.alerts)
    found = []
    for bits in range(max(counts) + 1):
        low, high = (1 << bits) >> 1, (1 << bits) - 1
        name = f"{low}-{high}" if low > 1 else str(low)
        if low >= 1024:
            name = f"{low >> 10}k-{2 * low >> 10}k"  # short, to fit; the tooltip is exact
        found.append(Bar(counts[bits], f"{low:,} to {high:,}: {counts[bits]:,} alerts", name))
    return found


class _Code(str):
    """Text that is shown as code."""


def _table(names: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "\n".join("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    return f"<table>{f'<tr>{head}</tr>' if head else ''}\n{body}\n</table>"


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td class="n">{value:,}</td>'
    text = escape("" if value is None else str(value))
    return f"<td><code>{text}</code></td>" if isinstance(value, _Code) else f"<td>{text}</td>"

"""A bar chart of the speed of Tamis and its peers, as SVG, drawn from recorded figures alone.

    python -m tamis_lab.peers.speed_chart results/peers.json results/block.json speed.svg

All bars show the workload `selective`, on one thread. The larger rule sets come from `tamis bench
block`: other runs, under another load of the machine, and without the peers. So they are drawn
apart, in another colour, and the chart states both loads.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

WORKLOAD = "selective"
RULES = 1_000
LABELS = {
    "tamis": "Tamis",
    "polars": "Polars, an expression per rule",
    "duckdb": "DuckDB, a column per rule",
    "a-tree": "a-tree (Rust)",
    "event-ruler": "Event Ruler (Java)",
    "lucene-monitor": "Lucene Monitor (Java)",
    "rule-engine": "rule-engine (Python)",
}
LOWEST, HIGHEST = 1, 6  # powers of ten on the axis
LEFT, RIGHT, TOP, ROW, WIDTH = 270, 90, 92, 30, 760
GAP = 44  # between the two groups, with room for a heading
TAMIS, PEER, APART = "#c2571a", "#7d8ea3", "#e8b48f"

Bar = tuple[str, float, str]


def bars_of_peers(peers: dict[str, Any]) -> list[Bar]:
    """Return label, events per second and colour of what was measured together, fastest first."""
    rows = [
        row
        for row in peers["experiments"][WORKLOAD]
        if row["asked"] == row["rules"] == RULES and row["events"]
    ]
    bars = [
        (LABELS[row["peer"]], row["events_per_s"], TAMIS if row["peer"] == "tamis" else PEER)
        for row in rows
        if row["peer"] in LABELS
    ]
    return sorted(bars, key=lambda bar: -bar[1])


def bars_of_tamis(block: dict[str, Any]) -> list[Bar]:
    """Return the same for Tamis alone, with more rules."""
    return [
        (f"Tamis, {row['subscriptions']:,} rules", row["events_per_s"], APART)
        for row in block["experiments"][WORKLOAD]
        if (row["engine"], row["threads"], row["answer"]) == ("block", 1, "pairs")
    ]


def chart(peers: dict[str, Any], block: dict[str, Any]) -> str:
    """Return the chart as SVG, with its own background, so that it is readable on any page."""
    first, second = bars_of_peers(peers), bars_of_tamis(block)
    below = TOP + ROW * len(first) + GAP
    bottom = below + ROW * len(second)
    height = bottom + 76
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="14" fill="#222" role="img">',
        "<title>Events per second by system, on a logarithmic scale</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#fff"/>',
        '<text x="24" y="32" font-size="17" font-weight="bold">'
        "Events per second, one thread, logarithmic scale</text>",
        _heading(TOP - 18, f"{RULES:,} rules, all in one run ({_load(peers)})"),
        _heading(below - 14, f"More rules: other runs ({_load(block)}), not comparable with those"),
    ]
    for power in range(LOWEST, HIGHEST + 1):
        x = _x(10**power)
        for top, end in ((TOP - 4, below - GAP + 4), (below - 4, bottom + 4)):
            lines.append(f'<path d="M{x:.1f} {top}V{end}" stroke="#ddd"/>')
        lines.append(
            f'<text x="{x:.1f}" y="{bottom + 22}" text-anchor="middle" fill="#666">'
            f"{10**power:,}</text>"
        )
    for top, bars in ((TOP, first), (below, second)):
        for i, bar in enumerate(bars):
            lines += _bar(top + ROW * i, *bar)
    lines += [
        f'<text x="24" y="{height - 26}" fill="#666" font-size="12">'
        "Each rule is a conjunction of 3 to 7 tests: 60 % equalities, 40 % ranges.</text>",
        f'<text x="24" y="{height - 10}" fill="#666" font-size="12">'
        "A load above the number of cores means that other work took part of the processor."
        "</text>",
    ]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _load(kept: dict[str, Any]) -> str:
    machine = kept["machine"]
    return f"load {machine['load']:.1f} at the end, {machine['cores']} cores"


def _heading(y: int, text: str) -> str:
    return f'<text x="24" y="{y}" fill="#444" font-style="italic">{escape(text)}</text>'


def _bar(y: int, label: str, rate: float, colour: str) -> list[str]:
    end = _x(rate)
    weight = "" if colour == PEER else ' font-weight="bold"'
    return [
        f'<text x="{LEFT - 10}" y="{y + 17}" text-anchor="end"{weight}>{escape(label)}</text>',
        f'<rect x="{LEFT}" y="{y + 2}" width="{end - LEFT:.1f}" height="{ROW - 8}" rx="3" '
        f'fill="{colour}"/>',
        f'<text x="{end + 8:.1f}" y="{y + 17}"{weight}>{rate:,.0f}</text>',
    ]


def _x(rate: float) -> float:
    share = (math.log10(rate) - LOWEST) / (HIGHEST - LOWEST)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


if __name__ == "__main__":
    kept = [json.loads(Path(file).read_text(encoding="utf-8")) for file in sys.argv[1:3]]
    Path(sys.argv[3]).write_text(chart(*kept), encoding="utf-8")

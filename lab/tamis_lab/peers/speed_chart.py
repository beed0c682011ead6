"""A bar chart of the speed of Tamis and its peers, as SVG, drawn from the kept figures alone.

    python -m tamis_lab.peers.speed_chart results/peers.json results/block.json speed.svg

All bars are of the workload `selective`, on one thread. The larger sets of rules are those of
`tamis bench block`; the peers have no figures for them.
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
    "polars": "Polars, an expression per rule",
    "duckdb": "DuckDB, a column per rule",
    "a-tree": "a-tree (Rust)",
    "event-ruler": "Event Ruler (Java)",
    "lucene-monitor": "Lucene Monitor (Java)",
    "rule-engine": "rule-engine (Python)",
}
LOWEST, HIGHEST = 1, 6  # powers of ten on the axis
LEFT, RIGHT, TOP, ROW, WIDTH = 270, 90, 64, 30, 760
OURS, THEIRS = "#c2571a", "#7d8ea3"

Bar = tuple[str, float, bool]


def bars(peers: dict[str, Any], block: dict[str, Any]) -> list[Bar]:
    """Label, events per second, and whether it is Tamis; Tamis first, then the fastest peer."""
    rows = {
        row["peer"]: row["events_per_s"]
        for row in peers["experiments"][WORKLOAD]
        if row["asked"] == row["rules"] == RULES and row["events"]
    }
    ours = {RULES: rows["tamis"]} | {
        row["subscriptions"]: row["events_per_s"]
        for row in block["experiments"][WORKLOAD]
        if (row["engine"], row["threads"], row["answer"]) == ("block", 1, "pairs")
    }
    theirs = [(label, rows[peer], False) for peer, label in LABELS.items() if peer in rows]
    theirs.sort(key=lambda bar: -bar[1])
    return [(f"Tamis, {n:,} rules", rate, True) for n, rate in sorted(ours.items())] + theirs


def chart(peers: dict[str, Any], block: dict[str, Any]) -> str:
    """The chart as SVG, with a background of its own, so that it is readable on any page."""
    drawn = bars(peers, block)
    bottom = TOP + ROW * len(drawn)
    height = bottom + 56
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="14" fill="#222" role="img">',
        "<title>Events per second by system, on a logarithmic scale</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#fff"/>',
        f'<text x="24" y="32" font-size="17" font-weight="bold">Events per second, one thread '
        f"({RULES:,} rules unless stated)</text>",
    ]
    for power in range(LOWEST, HIGHEST + 1):
        x = _x(10**power)
        lines.append(f'<path d="M{x:.1f} {TOP - 8}V{bottom + 4}" stroke="#ddd"/>')
        lines.append(
            f'<text x="{x:.1f}" y="{bottom + 22}" text-anchor="middle" fill="#666">'
            f"{10**power:,}</text>"
        )
    for i, (label, rate, is_tamis) in enumerate(drawn):
        y = TOP + ROW * i
        weight = ' font-weight="bold"' if is_tamis else ""
        colour = OURS if is_tamis else THEIRS
        end = _x(rate)
        lines.append(
            f'<text x="{LEFT - 10}" y="{y + 17}" text-anchor="end"{weight}>{escape(label)}</text>'
        )
        lines.append(
            f'<rect x="{LEFT}" y="{y + 2}" width="{end - LEFT:.1f}" height="{ROW - 8}" rx="3" '
            f'fill="{colour}"/>'
        )
        lines.append(f'<text x="{end + 8:.1f}" y="{y + 17}"{weight}>{rate:,.0f}</text>')
    lines.append(
        f'<text x="24" y="{height - 10}" fill="#666" font-size="12">Logarithmic scale. '
        "Each rule is a conjunction of 3 to 7 tests: 60 % equalities, 40 % ranges.</text>"
    )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _x(rate: float) -> float:
    share = (math.log10(rate) - LOWEST) / (HIGHEST - LOWEST)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


if __name__ == "__main__":
    kept = [json.loads(Path(file).read_text(encoding="utf-8")) for file in sys.argv[1:3]]
    Path(sys.argv[3]).write_text(chart(*kept), encoding="utf-8")

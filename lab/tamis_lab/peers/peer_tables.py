"""The figures of `tamis bench peers` as Markdown tables, generated from the JSON alone.

    python -m tamis_lab.peers.peer_tables results/peers.json docs/evaluation/peers.md

inserts them between the two markers in the page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tamis_lab.harness.figure_text import number

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
HEADINGS = ("peer", "rules", "events/s", "Tamis is times as fast", "build", "peak", "right", "note")


def tables(kept: dict[str, Any]) -> str:
    """Return a table for each workload and number of rules."""
    machine = kept["machine"]
    load = f"load {machine['load']:.1f} at the end"
    parts = [f"Python {machine['python']}, {machine['cores']} cores, {load}."]
    if "note" in kept:
        parts.append(kept["note"])
    for workload, rows in kept["experiments"].items():
        for asked in sorted({row["asked"] for row in rows}):
            parts.append(f"**{workload}, {asked:,} rules**")
            parts.append("\n".join(_lines(row for row in rows if row["asked"] == asked)))
    return "\n\n".join(parts)


def insert_tables(page: str, kept: dict[str, Any]) -> str:
    """Return a page with the tables between its markers."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables(kept)}\n\n{END}{after}"


def _lines(rows: Iterable[dict[str, Any]]) -> Iterable[str]:
    yield "| " + " | ".join(HEADINGS) + " |"
    yield "|---|" + "---:|" * 5 + "---|---|"
    for row in rows:
        if not row["events"]:
            cells = [row["peer"], *[""] * 6, row["note"]]
        else:
            right = f"{row['equal']} ({row['equal_on']})"
            share = f" ({row['can_say']:.0%})" if row["can_say"] < 1 else ""
            cells = [
                f"{row['peer']} {row['version']}",
                f"{row['rules']:,}{share}",
                _cell(row["events_per_s"]),
                _cell(row["tamis_is_times"]),
                f"{_cell(row['build_s'])} s",
                f"{row['peak_mb']:,.0f} MB",
                right,
                row["note"],
            ]
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _cell(value: object) -> str:
    return number(value, digits=2) if isinstance(value, int | float) else ""


if __name__ == "__main__":
    figures, page = map(Path, sys.argv[1:3])
    found = json.loads(figures.read_text(encoding="utf-8"))
    page.write_text(insert_tables(page.read_text(encoding="utf-8"), found), encoding="utf-8")

"""A report of all figures: ours beside the paper's, and whether each claim holds.

It is written as HTML and as Markdown, from the results on disk; nothing is measured here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from tamis_lab.harness.figure_text import number
from tamis_lab.papers.engine_points import WORKLOADS
from tamis_lab.papers.figure_catalogue import TITLES
from tamis_lab.papers.figure_plots import draw
from tamis_lab.papers.results import Results
from tamis_lab.papers.verdicts import FigureResult, figure_results, growths, tally

_MARKS = {True: "holds", False: "FAILS", None: "undecided"}
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
       color: #222; background: #fff }
table { border-collapse: collapse; margin: .5rem 0; font-size: .9rem }
td, th { border-bottom: 1px solid #ddd; padding: .2rem .6rem; text-align: left }
td.n { text-align: right; font-variant-numeric: tabular-nums }
img { max-width: 100%; height: auto }
.holds { color: #00664b } .fails { color: #a33600; font-weight: 600 } .unknown { color: #666 }
.note { color: #555 } summary { cursor: pointer; color: #555 }
@media (max-width: 40rem) { table { display: block; overflow-x: auto } }
"""


class ReportFiles(NamedTuple):
    """The files of a report, and how many claims hold, fail, and are undecided."""

    page: Path
    markdown: Path
    tally: dict[bool | None, int]


def write(results: Results, scale: str, folder: Path, *, plots: bool = True) -> ReportFiles:
    """Write `report.html` and `report.md` into a folder, with the plots in `plots` beside them.

    Raises:
        ImportError: Plots are requested, but Matplotlib is not installed.
    """
    found = figure_results(results, scale)
    folder.mkdir(parents=True, exist_ok=True)
    drawn = {}
    for one in found:
        if plots and one.figure.paper != "beyond":
            drawn[one.figure.name] = draw(one.figure, one.curves, folder / "plots")
    page, markdown = folder / "report.html", folder / "report.md"
    page.write_text("\n".join(_html(results, scale, found, drawn, folder)) + "\n", "utf-8")
    markdown.write_text("\n".join(_markdown(results, scale, found, drawn)) + "\n", "utf-8")
    return ReportFiles(page, markdown, tally(found))


def _heading(results: Results, scale: str, found: Sequence[FigureResult]) -> Iterator[str]:
    """Yield the paragraphs at the top of the report."""
    counted = tally(found)
    total = sum(counted.values())
    yield (
        f"{len(found)} tables and figures at scale “{scale}”. Of {total} claims of the papers, "
        f"{counted[True]} hold here, {counted[False]} fail, and {counted[None]} are undecided for "
        "lack of measurements."
    )
    failed = sum("failed" in line for line in results.lines.values())
    loads = [
        float(line["machine"]["load"])  # type: ignore[index]
        for line in results.lines.values()
        if "machine" in line
    ]
    facts = results.machine
    spread = f", load {min(loads):.1f} to {max(loads):.1f} during the run" if loads else ""
    yield (
        f"{len(results.lines)} points were measured, each in its own process; {failed} failed "
        f"or took too long. The machine: {facts.get('cores', '?')} cores, "
        f"{facts.get('machine', '?')}, Python {facts.get('python', '?')}{spread}. Seconds are "
        "processor time."
    )
    yield (
        "The machines of the papers were twenty years older, and their code was C++ and Java. So "
        "do not compare rates with theirs; compare which algorithm is ahead, where two cross, how "
        "each grows, and how many nodes there are. Dotted lines are ours: the paper "
        "does not have them."
    )


# -- Markdown -------------------------------------------------------------------------------------


def _markdown(
    results: Results, scale: str, found: Sequence[FigureResult], drawn: dict[str, str | None]
) -> Iterator[str]:
    yield "# The papers' evaluation, measured here\n"
    for sentence in _heading(results, scale, found):
        yield sentence + "\n"
    for paper, same in groupby(found, key=lambda one: one.figure.paper):
        yield f"## {TITLES[paper]}\n"
        for one in same:
            yield f"### {one.figure.number}: {one.figure.title}\n"
            if drawn.get(one.figure.name):
                yield f"![{one.figure.title}](plots/{one.figure.name}.svg)\n"
            if one.figure.paper == "beyond":
                yield from _matrix_in_markdown(one)
            for claim, verdict in one.verdicts:
                yield f"- **{_MARKS[verdict.holds]}**: {claim.text} *{verdict.evidence}.*"
            if one.verdicts:
                yield ""
            if one.figure.note:
                yield f"{one.figure.note}\n"
            if one.gaps:
                yield f"Missing: {' · '.join(one.gaps)}.\n"
    yield "## Growth\n"
    yield "| figure | algorithm | growth |"
    yield "|---|---|---|"
    for row in growths(found):
        yield f"| {' | '.join(row)} |"


def _matrix_in_markdown(one: FigureResult) -> Iterator[str]:
    yield f"| engine | {' | '.join(WORKLOADS)} |"
    yield "|---|" + "---:|" * len(WORKLOADS)
    for label, cells in _matrix(one):
        yield f"| {label} | {' | '.join(cells)} |"
    yield ""


def _matrix(one: FigureResult) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a table of engines and workloads."""
    for curve in one.figure.curves:
        values = {value.x: value.y for value in one.curves[curve.label]}
        yield curve.label, [_cell(values.get(place)) for place in range(len(WORKLOADS))]


# -- HTML -----------------------------------------------------------------------------------------


def _html(
    results: Results,
    scale: str,
    found: Sequence[FigureResult],
    drawn: dict[str, str | None],
    folder: Path,
) -> Iterator[str]:
    yield "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
    yield "<meta name='viewport' content='width=device-width, initial-scale=1'>"
    yield f"<title>The papers' evaluation, measured here</title><style>{_STYLE}</style></head>"
    yield "<body><h1>The papers' evaluation, measured here</h1>"
    for sentence in _heading(results, scale, found):
        yield f"<p>{escape(sentence)}</p>"
    yield from _contents(found)
    for paper, same in groupby(found, key=lambda one: one.figure.paper):
        yield f"<h2>{escape(TITLES[paper])}</h2>"
        for one in same:
            yield from _section(one, drawn.get(one.figure.name), folder)
    yield "<h2>Growth</h2><table><tr><th>figure</th><th>algorithm</th><th>growth</th></tr>"
    for row in growths(found):
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>"
    yield "</table></body></html>"


def _contents(found: Sequence[FigureResult]) -> Iterator[str]:
    """Yield a table of all figures with their verdicts, as an overview."""
    yield "<details open><summary>All figures</summary><table>"
    for one in found:
        marks = " ".join(
            f"<span class='{_kind(verdict.holds)}' title='{escape(claim.text, quote=True)}'>"
            f"{_MARKS[verdict.holds]}</span>"
            for claim, verdict in one.verdicts
        )
        figure = one.figure
        yield (
            f"<tr><td>{escape(figure.paper)}</td><td><a href='#{figure.name}'>"
            f"{escape(figure.number)}</a></td><td>{escape(figure.title)}</td><td>{marks}</td></tr>"
        )
    yield "</table></details>"


def _section(one: FigureResult, name: str | None, folder: Path) -> Iterator[str]:
    figure = one.figure
    yield f"<h3 id='{figure.name}'>{escape(figure.number)}: {escape(figure.title)}</h3>"
    if name:
        # Embedded, so that the page is a single file.
        drawing = (folder / "plots" / f"{name}.svg").read_text("utf-8")
        yield f"<div role='img' aria-label='{escape(figure.title, quote=True)}'>"
        yield drawing[drawing.index("<svg") :] + "</div>"
    if figure.paper == "beyond":
        yield "<table><tr><th>engine</th>" + "".join(
            f"<th>{escape(workload)}</th>" for workload in WORKLOADS
        )
        for label, cells in _matrix(one):
            row = "".join(f"<td class='n'>{cell}</td>" for cell in cells)
            yield f"</tr><tr><td>{escape(label)}</td>{row}"
        yield "</tr></table>"
    if one.verdicts:
        yield "<table>"
        for claim, verdict in one.verdicts:
            yield (
                f"<tr><td class='{_kind(verdict.holds)}'>{_MARKS[verdict.holds]}</td>"
                f"<td>{escape(claim.text)}<br><span class='note'>{escape(verdict.evidence)}</span>"
                "</td></tr>"
            )
        yield "</table>"
    if figure.note:
        yield f"<p class='note'>{escape(figure.note)}</p>"
    if one.gaps:
        yield f"<p class='note'>Missing: {escape(' · '.join(one.gaps))}.</p>"
    if figure.paper != "beyond":
        yield from _values(one)


def _values(one: FigureResult) -> Iterator[str]:
    yield "<details><summary>Values</summary><table>"
    yield f"<tr><th>curve</th><th>{escape(one.figure.x)}</th><th>{escape(one.figure.y)}</th>"
    yield "<th>lowest</th><th>highest</th><th>paper</th></tr>"
    for label, values in one.curves.items():
        printed = dict(one.figure.paper_values.get(label, ()))
        for value in values:
            figures = (value.x, value.y, value.low, value.high, printed.get(value.x))
            cells = "".join(f"<td class='n'>{_cell(figure)}</td>" for figure in figures)
            yield f"<tr><td>{escape(label)}</td>{cells}</tr>"
    yield "</table></details>"


def _kind(holds: bool | None) -> str:
    return {True: "holds", False: "fails", None: "unknown"}[holds]


def _cell(figure: float | None) -> str:
    return "-" if figure is None else number(figure)

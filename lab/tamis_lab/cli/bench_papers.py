"""`tamis bench papers` and `tamis bench report`: the papers' evaluation, and a report of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.shared import console
from tamis.cli.shared.progress import Progress

if TYPE_CHECKING:
    from tamis_lab.papers.results import Results
    from tamis_lab.papers.spec import Point

PAPERS_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench papers
  tamis bench papers bdd atree:5.4 --out results.jsonl
  tamis bench papers --scale paper --out results/papers.jsonl --report docs/papers
  tamis bench papers --spark 2 --parquet results.parquet

Every point of a table or figure is measured in its own process. An interrupted run continues
where it stopped if you pass the same --out. Scale small takes a quarter of an hour; scale paper
takes hours, and all the memory there is.
"""

REPORT_EXAMPLES = """\
[bold]Examples[/bold]
  tamis bench report results/papers.jsonl --out report
  tamis bench report results.jsonl --no-plots

Writes report.html, a single self-contained file; report.md; and a folder of plots as SVG and PNG.
Everything comes from the results alone.
"""

FiguresArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[FIGURE]…", help="A paper, or one figure such as atree:5.4; by default all."
    ),
]
ScaleOption = Annotated[
    str, typer.Option(metavar="small|paper", help="Minutes of work, or the sizes of the papers.")
]
KeptOption = Annotated[
    Path,
    typer.Option(metavar="FILE", help="Append results to this file as JSON lines, and resume it."),
]
ReportOption = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Write a report into this folder at the end.")
]
SparkOption = Annotated[
    int, typer.Option(min=0, metavar="N", help="Run on Spark, with N points at a time.")
]
ParquetOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Also write the results as a Parquet table, with Spark."),
]
ResultsArgument = Annotated[
    Path, typer.Argument(metavar="RESULTS", help="The file that `tamis bench papers` has written.")
]
ReportFolderOption = Annotated[Path, typer.Option(metavar="FOLDER", help="The folder to write to.")]
PlotsFlag = Annotated[
    bool, typer.Option("--plots/--no-plots", help="Draw plots, or leave them out.")
]


def papers(
    asked: list[str] | None,
    scale: str,
    out: Path,
    report: Path | None,
    spark: int,
    parquet: Path | None,
) -> None:
    """Measure the points that have no result yet, and write the tables and reports."""
    from tamis_lab.papers import runner
    from tamis_lab.papers.figure_catalogue import figures
    from tamis_lab.papers.results import Results

    wanted = figures(scale, asked)
    results = Results.open(out)
    results.begin(scale)
    points = [point for figure in wanted for point in figure.points()]
    count = len({point.key for point in points})
    console.note(
        f"{len(wanted)} figures, {count} points, {len(results.missing(points))} to measure"
    )
    with Progress(quiet=False, answers_on_terminal=False) as bar:

        def show_progress(done: int, of: int, point: Point) -> None:
            bar.update(done, done / of, f"{done} of {of}: {_point_text(point)}")
            if not bar.is_shown:
                console.note(f"{done} of {of}: {_point_text(point)}")

        bar.start("measuring")
        if spark:
            from tamis_lab.papers import spark_runner

            spark_runner.run(points, results, show_progress, spark)
        else:
            runner.run(points, results, show_progress)
    if parquet:
        from tamis_lab.papers.spark_runner import write_table

        write_table(results, parquet)
        console.note(f"written: {parquet}")
    if report:
        _report(results, scale, report, plots=True)


def write_report(file: Path, out: Path, plots: bool) -> None:
    """Write a report of results."""
    from tamis.errors import InputError
    from tamis_lab.papers.results import Results

    if not file.exists():
        raise InputError(f"no such file; create it: tamis bench papers --out {file}", str(file))
    results = Results.open(file)
    if not results.scale:
        raise InputError("names no scale: not a file of `tamis bench papers`", str(file))
    _report(results, results.scale, out, plots)


def _report(results: Results, scale: str, folder: Path, plots: bool) -> None:
    from tamis_lab.papers.paper_report import write

    found = write(results, scale, folder, plots=plots)
    hold, fail, unknown = (found.tally[kind] for kind in (True, False, None))
    console.stdout().print(f"claims of the papers: {hold} hold, {fail} fail, {unknown} undecided")
    console.note(f"written: {found.page}, {found.markdown}")


def _point_text(point: Point) -> str:
    return f"{point.kind}, {', '.join(f'{k} {v}' for k, v in point.parameters.items())}"

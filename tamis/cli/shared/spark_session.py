"""The Spark session of the verbs that run on Spark: options, errors and progress."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.shared.progress import Progress
from tamis.errors import InputError

if TYPE_CHECKING:
    from tamis.spark.session import SparkSession

# Seconds between two polls of Spark's progress.
_LOOK = 0.25

MasterOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Where Spark runs: [cyan]local\\[4][/cyan], [cyan]spark://host:7077[/cyan], "
        "[cyan]yarn[/cyan], or [cyan]sc://host[/cyan] (Spark Connect). Default: local, on two "
        "cores.",
        show_default=False,
    ),
]
ConfOption = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="A Spark setting; may be repeated.", show_default=False),
]
SparkOption = Annotated[
    bool, typer.Option("--spark", metavar="", help="Run on Spark; see the examples below.")
]


def pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """Parse a list of KEY=VALUE.

    Raises:
        BadParameter: One of them has another form.
    """
    parsed = {}
    for one in given or ():
        key, equals, value = one.partition("=")
        if not (key and equals):
            raise typer.BadParameter(f"{option} takes KEY=VALUE, not {one!r}")
        parsed[key] = value
    return parsed


def refuse_without_spark(master: str | None, conf: list[str] | None, **others: object) -> None:
    """Refuse options that need --spark.

    Raises:
        BadParameter: One of them was given.
    """
    for name, value in {"--master": master, "--conf": conf, **others}.items():
        if value:
            raise typer.BadParameter(f"{name} needs --spark")


@contextmanager
def spark_session(master: str | None, conf: list[str] | None) -> Iterator[SparkSession]:
    """Open a session, stopped at the end unless it existed before; report errors in one line."""
    from tamis.spark import session

    settings: dict[str, object] = dict(pairs(conf, "--conf"))
    if master is not None:
        settings["spark.remote" if master.startswith("sc://") else "spark.master"] = master
    ours = not _has_active_session()
    with _one_line_errors():
        spark = session("tamis", **settings)
        try:
            yield spark
        finally:
            if ours:
                spark.stop()


def _has_active_session() -> bool:
    # Do not import PySpark for this: if it is not loaded, there is no session.
    module = sys.modules.get("pyspark.sql")
    return module is not None and module.SparkSession.getActiveSession() is not None


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        raise InputError(_line(str(error)), "spark") from error


def _line(message: str) -> str:
    """Return the essential line of a message that has Java and Python tracebacks."""
    ours = re.findall(r"^(?:[\w.]*: )?tamis\.errors\.\w+: (.+)$", message, re.M)
    if ours:
        return str(ours[-1])
    lines = [line.strip(" :\t") for line in message.splitlines() if line.strip()]
    if lines and lines[0].startswith("An error occurred while calling"):  # added by py4j
        del lines[0]
    return lines[0] if lines else "Spark failed without a message"


@contextmanager
def show_spark_progress(spark: SparkSession, what: str, quiet: bool) -> Iterator[None]:
    """Show the progress of Spark's tasks; with Spark Connect, only that something runs."""
    with Progress(quiet, answers_on_terminal=False) as bar:
        bar.start(what)
        if not bar.is_shown:
            yield
            return
        done = threading.Event()
        look = threading.Thread(target=_poll_progress, args=(spark, bar, done), daemon=True)
        look.start()
        try:
            yield
        finally:
            done.set()
            look.join()


def _poll_progress(spark: SparkSession, bar: Progress, done: threading.Event) -> None:
    try:
        tracker = spark.sparkContext.statusTracker()
    except Exception:  # Spark Connect has no tracker; the bar pulses
        return
    while not done.wait(_LOOK):
        finished = tasks = 0
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info is not None:
                finished += info.numCompletedTasks
                tasks += info.numTasks
        if tasks:
            bar.update(finished, finished / tasks, f"{finished:,} of {tasks:,} tasks")

"""What the verbs that run on Spark share: the session, its options, its errors, its progress."""

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

# Seconds between two looks at what Spark is doing.
_LOOK = 0.25

MasterOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Where Spark runs: [cyan]local\\[4][/cyan], [cyan]spark://host:7077[/cyan], "
        "[cyan]yarn[/cyan], or [cyan]sc://host[/cyan] (Spark Connect). By default it is "
        "local, on two cores.",
        show_default=False,
    ),
]
ConfOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE", help="A setting of Spark; may be repeated.", show_default=False
    ),
]
SparkOption = Annotated[
    bool, typer.Option("--spark", metavar="", help="Run on Spark; see the examples below.")
]


def pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """What was given as KEY=VALUE."""
    found = {}
    for one in given or ():
        key, equals, value = one.partition("=")
        if not (key and equals):
            raise typer.BadParameter(f"{option} takes KEY=VALUE, not {one!r}")
        found[key] = value
    return found


def refuse_without_spark(master: str | None, conf: list[str] | None, **others: object) -> None:
    """Options that mean nothing where Spark is not asked for."""
    for name, value in {"--master": master, "--conf": conf, **others}.items():
        if value:
            raise typer.BadParameter(f"{name} needs --spark")


@contextmanager
def spark_session(master: str | None, conf: list[str] | None) -> Iterator[SparkSession]:
    """A session, ended at the end unless it was there before; its errors are told in a line."""
    from tamis.spark import session

    wanted: dict[str, object] = dict(pairs(conf, "--conf"))
    if master is not None:
        wanted["spark.remote" if master.startswith("sc://") else "spark.master"] = master
    ours = not _has_active_session()
    with _one_line_errors():
        spark = session("tamis", **wanted)
        try:
            yield spark
        finally:
            if ours:
                spark.stop()


def _has_active_session() -> bool:
    # Not imported for this: without the module nobody has a session.
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
    """What a person needs of a message that has tracebacks of two languages in it."""
    ours = re.findall(r"^(?:[\w.]*: )?tamis\.errors\.\w+: (.+)$", message, re.M)
    if ours:
        return str(ours[-1])
    lines = [line.strip(" :\t") for line in message.splitlines() if line.strip()]
    if lines and lines[0].startswith("An error occurred while calling"):  # py4j's own words
        del lines[0]
    return lines[0] if lines else "it failed, and did not say why"


@contextmanager
def show_spark_progress(spark: SparkSession, what: str, quiet: bool) -> Iterator[None]:
    """Show how far Spark's tasks are while something runs; through Connect, that it does run."""
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
    except Exception:  # Spark Connect has none; the bar goes to and fro
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

"""The command line: one thin module per verb.

Only light modules are imported here and at the top of the verbs' modules, so `tamis --help` does
not wait for Arrow. To add a verb, write its module and add one line below.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tamis.cli import (
    backtest,
    compile,
    diff,
    explain,
    lint,
    match,
    overlay,
    parse,
    publish,
    serve,
    stream,
    subscribe,
    user,
)
from tamis.cli.plugins import register_verbs
from tamis.cli.shared.exit_codes import EXIT_CODES, GuardedVerbs, Verb

__all__ = ["app", "main"]

app = typer.Typer(
    name="tamis",
    cls=GuardedVerbs,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXIT_CODES,
)
app.command("match", cls=Verb, epilog=match.EXAMPLES)(match.match)
app.command("compile", cls=Verb, epilog=compile.EXAMPLES)(compile.compile)
app.command("stream", cls=Verb, epilog=stream.EXAMPLES)(stream.stream)
app.command("backtest", cls=Verb, epilog=backtest.EXAMPLES)(backtest.backtest)
app.command("serve", cls=Verb, epilog=serve.EXAMPLES)(serve.serve)
app.command("publish", cls=Verb, epilog=publish.EXAMPLES)(publish.publish)
app.command("subscribe", cls=Verb, epilog=subscribe.EXAMPLES)(subscribe.subscribe)
app.command("explain", cls=Verb, epilog=explain.EXAMPLES)(explain.explain)
app.command("lint", cls=Verb, epilog=lint.EXAMPLES)(lint.lint)
app.command("diff", cls=Verb, epilog=diff.EXAMPLES)(diff.diff)
app.command("parse", cls=Verb, epilog=parse.EXAMPLES)(parse.parse)
app.add_typer(user.app, name="user")
app.add_typer(overlay.app, name="overlay")
register_verbs(app)


def main() -> None:
    """Run the command line; the entry point of the package."""
    for output in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets an escape instead of a traceback.
        output.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app(prog_name="tamis")


def _version(requested: bool) -> None:
    if requested:
        from tamis import __version__

        typer.echo(f"tamis {__version__}")
        raise typer.Exit


@app.callback()
def _tamis(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_version, is_eager=True, metavar=""
        ),
    ] = False,
) -> None:
    """Register SQL conditions; Tamis tells you which of them each event satisfies.

    A condition is called a selector: what you would write after WHERE in Spark SQL, such as
    [cyan]company IN ('IBM', 'Dell') AND price <= 1000[/cyan]. See docs/guides/language.md.
    """

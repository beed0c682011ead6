"""`tamis overlay`: show the nodes of an overlay and their links, and remove a link."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tamis.cli.shared import console
from tamis.cli.shared.broker_client import (
    AuthorityOption,
    NatsOption,
    PrefixOption,
    UserOption,
    credentials,
)
from tamis.cli.shared.exit_codes import Verb, Verbs
from tamis.errors import BrokerError, InputError

if TYPE_CHECKING:
    from tamis.broker.overlay.picture import OverlaySnapshot

EXAMPLES = """\
[bold]Examples[/bold]
  tamis overlay                                  tables of nodes and links
  tamis overlay --nats nats://rome:4222 --format json
  tamis overlay --out overlay.svg                drawn by Graphviz, if installed
  tamis overlay --wait                           until every node knows all subscriptions
  tamis overlay unlink rome
  tamis overlay unlink rome --forget             rome will not come back

All nodes are queried, from neighbour to neighbour. docs/guides/overlay.md explains the figures.
"""
UNLINK_EXAMPLES = """\
[bold]Examples[/bold]
  tamis overlay unlink rome
  tamis overlay unlink rome --forget
  tamis overlay unlink rome --nats nats://paris:4222

A node that is down stays linked: its events wait in a queue. Restart `tamis serve` without the
--link, or it links again.
"""

app = typer.Typer(
    cls=Verbs,
    invoke_without_command=True,
    rich_markup_mode="rich",
    help="Show the overlay network, or remove a link.",
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class OverlayFormat(StrEnum):
    """How to print the overlay."""

    table = "table"
    json = "json"
    dot = "dot"


@app.callback()
def show(
    context: typer.Context,
    nats: NatsOption = "nats://127.0.0.1:4222",
    format: Annotated[
        OverlayFormat,
        typer.Option(
            help="[cyan]table[/cyan], [cyan]json[/cyan], or [cyan]dot[/cyan] for Graphviz."
        ),
    ] = OverlayFormat.table,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Draw the overlay to this file: .svg, .png, .pdf, or .dot for the source.",
        ),
    ] = None,
    wait: Annotated[
        bool,
        typer.Option(
            "--wait", metavar="", help="Wait until all nodes answer and know all subscriptions."
        ),
    ] = False,
    timeout: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="How long --wait waits.")
    ] = 60.0,
    prefix: PrefixOption = "tamis",
    user: UserOption = None,
    tls_ca: AuthorityOption = None,
) -> None:
    """Show the reachable nodes, their links, and the traffic over them."""
    if context.invoked_subcommand is not None:
        return
    import msgspec

    from tamis.broker.overlay.picture import dot

    options = credentials(user, tls_ca, nats)
    shown = asyncio.run(_fetch_overlay(nats, prefix, options, timeout if wait else None))
    if out is not None:
        _draw(dot(shown), out)
    elif format is OverlayFormat.json:
        typer.echo(msgspec.json.format(msgspec.json.encode(shown), indent=2))
    elif format is OverlayFormat.dot:
        typer.echo(dot(shown), nl=False)
    else:
        for line in tables(shown):
            typer.echo(line)


@app.command("unlink", cls=Verb, epilog=UNLINK_EXAMPLES)
def unlink(
    node: Annotated[str, typer.Argument(metavar="NODE", help="The neighbour to unlink.")],
    forget: Annotated[
        bool,
        typer.Option(
            "--forget", metavar="", help="Remove only this side: the other node is gone for good."
        ),
    ] = False,
    nats: NatsOption = "nats://127.0.0.1:4222",
    prefix: PrefixOption = "tamis",
    user: UserOption = None,
    tls_ca: AuthorityOption = None,
) -> None:
    """Remove a link, with the events that wait for it, and inform the other nodes."""

    async def work() -> int:
        from tamis.broker.fabric.connection import open_connection
        from tamis.broker.overlay.unlink import unlink as unlinking
        from tamis.broker.protocol.names import Names

        connection = await open_connection(nats, **credentials(user, tls_ca, nats))
        try:
            return await unlinking(connection, Names(prefix), node, forget=forget)
        finally:
            await connection.close()

    waiting = asyncio.run(work())
    lost = f"; {waiting:,} queued events were dropped" if waiting else ""
    console.note(f"unlinked {node}{lost}")


async def _fetch_overlay(
    nats: str, prefix: str, options: dict[str, Any], seconds: float | None
) -> OverlaySnapshot:
    from tamis.broker.fabric.connection import open_connection
    from tamis.broker.overlay.discovery import gather_overlay
    from tamis.broker.overlay.picture import overlay_snapshot
    from tamis.broker.protocol.names import Names

    connection = await open_connection(nats, **options)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + (seconds or 0)
    try:
        while True:
            shown = overlay_snapshot(await gather_overlay(connection, Names(prefix)))
            if seconds is None or shown.is_converged:
                return shown
            if loop.time() > deadline:
                silent = ", ".join(shown.silent) or "none"
                raise BrokerError(
                    f"not all nodes know all subscriptions yet; silent nodes: {silent}",
                    "timeout",
                )
            await asyncio.sleep(0.2)
    finally:
        await connection.close()


def _draw(text: str, out: Path) -> None:
    program = shutil.which("dot")
    if out.suffix == ".dot" or program is None:
        if program is None and out.suffix != ".dot":
            out = out.with_suffix(".dot")
            console.note(f"Graphviz (the program dot) is not installed: wrote {out} instead")
        out.write_text(text, encoding="utf-8")
        return
    command = [program, f"-T{out.suffix[1:]}", "-o", str(out)]
    done = subprocess.run(command, input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        raise InputError(f"Graphviz failed: {done.stderr.decode().strip()}", str(out))


def tables(shown: OverlaySnapshot) -> Iterator[str]:
    """Return the lines of two tables: the nodes, then the links."""
    rows: list[tuple[str, ...]] = [
        ("node", "brokers", "subs", "events", "delivered", "evaluated", "checked", "false pos.")
    ]
    for name, node in shown.nodes.items():
        figures = node.figures
        names = ("subscriptions", "events", "deliveries", "evaluations", "checks")
        rows.append(
            (
                name,
                str(node.brokers) if node.brokers else "silent",
                *(f"{figures[each]:,}" if figures else "-" for each in names),
                f"{figures['false_positives']:,}" if figures else "-",
            )
        )
    yield from _columns(rows)
    yield ""
    rows = [("from", "to", "events", "bytes", "filters", "waiting", "interests", "state")]
    for name, node in shown.nodes.items():
        for neighbour, link in sorted(node.links.items()):
            counts = ("events_out", "bytes_out", "filter_bytes_out", "waiting", "interests_told")
            numbers = tuple(f"{link[each]:,}" for each in counts)
            rows.append((name, neighbour, *numbers, _state(shown, name, neighbour)))
    yield from _columns(rows)
    for name, why in shown.silent.items():
        yield f"{name} does not answer: {why}"
    for name, node in shown.nodes.items():
        for where, trouble in node.down.items():
            yield f"{name} has no link to {where}: {trouble or 'connecting'}"


def _state(shown: OverlaySnapshot, name: str, neighbour: str) -> str:
    link = shown.nodes[name].links[neighbour]
    there = shown.nodes[neighbour].links.get(name) if neighbour in shown.nodes else None
    if link["refused"]:
        return "refused"
    if there is None:
        return "silent"
    if not (link["up"] or there["up"]):
        return "down"
    return "in sync" if link["to_tell"] == link["told"] == there["received"] else "syncing"


def _columns(rows: list[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [
            cell.ljust(width) if rows[-1][i][:1].isalpha() else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()

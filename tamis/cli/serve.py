"""`tamis serve`: a broker, and a NATS server if there is none."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from tamis.cli import console
from tamis.cli.loading import counted
from tamis.cli.options import QuietOption, SchemaOption, Semantics, SemanticsOption, read_schema

EXAMPLES = """\
[bold]Examples[/bold]
  tamis serve
  tamis serve --data /var/lib/tamis --port 4222
  tamis serve --nats nats://nats.example.com:4222
  tamis serve --schema events.json --batch 2048 --wait 5

Then, in other terminals:
  tamis subscribe "price > 100"
  tamis publish '{"price": 120}'

Start it several times, on one machine or on many, and the brokers share the work. Ctrl-C drains:
what has begun is finished. docs/protocol.md is for clients in other languages.
"""

PrefixOption = Annotated[
    str, typer.Option(metavar="NAME", help="What all names on NATS begin with.")
]


def serve(
    nats: Annotated[
        str | None,
        typer.Option(
            "--nats",
            metavar="URL",
            help="The NATS server to join. Without it the one at --host and --port; one is started "
            "there if there is none.",
        ),
    ] = None,
    data: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where a server that is started keeps all.")
    ] = Path("tamis-data"),
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where a server that is started listens.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, metavar="N", help="Its port.")] = 4222,
    sync: Annotated[
        bool,
        typer.Option(
            "--sync", metavar="", help="Wait for the disk: what is confirmed survives a power cut."
        ),
    ] = False,
    prefix: PrefixOption = "tamis",
    schema: SchemaOption = None,
    semantics: SemanticsOption = Semantics.sql,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="ATTRIBUTE",
            help="What sequences go by; without it the time at which NATS stored the event.",
        ),
    ] = None,
    batch: Annotated[
        int, typer.Option(min=1, metavar="N", help="Judge at most so many events at a time.")
    ] = 512,
    wait: Annotated[
        float,
        typer.Option(min=0, metavar="MS", help="Milliseconds to wait for more events."),
    ] = 2.0,
    keep_events: Annotated[
        float, typer.Option(min=0.001, metavar="HOURS", help="How long events are kept.")
    ] = 24.0,
    keep_deliveries: Annotated[
        float, typer.Option(min=0.001, metavar="HOURS", help="How long deliveries are kept.")
    ] = 24.0,
    backlog: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Deliveries kept per subscriber; then the oldest go."
        ),
    ] = 100_000,
    dedupe: Annotated[
        float,
        typer.Option(
            min=0.1, metavar="SECONDS", help="How long NATS knows a delivery, to store it once."
        ),
    ] = 120.0,
    ack_wait: Annotated[
        float,
        typer.Option(min=1, metavar="SECONDS", help="After so long another broker gets an event."),
    ] = 30.0,
    delivery_wait: Annotated[
        float,
        typer.Option(
            min=1, metavar="SECONDS", help="After so long a subscriber gets a delivery again."
        ),
    ] = 30.0,
    replicas: Annotated[
        int, typer.Option(min=1, max=5, metavar="N", help="Copies, in a cluster of NATS servers.")
    ] = 1,
    quiet: QuietOption = False,
) -> None:
    """Match events as they are published, and deliver them to whoever subscribed."""
    import asyncio

    from tamis.broker.config import ServerConfig
    from tamis.broker.serving import serve as serving
    from tamis.broker.settings import HOUR, Settings

    logging.basicConfig(format="%(message)s", level=logging.ERROR if quiet else logging.WARNING)
    logging.getLogger("nats").setLevel(logging.CRITICAL)
    settings = Settings(
        prefix=prefix,
        schema=read_schema(schema),
        semantics=semantics.value,
        time=time,
        batch=batch,
        wait=wait / 1000,
        keep_events=keep_events * HOUR,
        keep_deliveries=keep_deliveries * HOUR,
        backlog=backlog,
        dedupe=dedupe,
        ack_wait=ack_wait,
        delivery_wait=delivery_wait,
        replicas=replicas,
    )
    server = ServerConfig(store=data, host=host, port=port, sync_always=sync)
    say = (lambda text: None) if quiet else console.note
    broker = asyncio.run(
        serving(
            settings,
            url=nats,
            server=server,
            say=say,
            ready=lambda url: say(f"serving at {url}; Ctrl-C to stop"),
        )
    )
    figures = broker.figures
    say(f"{counted(figures.events, 'event')}, {figures.deliveries:,} delivered")

"""`tamis serve`: a broker, and a NATS server if there is none."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from tamis.cli.shared import console
from tamis.cli.shared.broker_client import AuthorityOption, PrefixOption, UserOption, credentials
from tamis.cli.shared.load import format_count
from tamis.cli.shared.options import (
    QuietOption,
    SchemaOption,
    Semantics,
    SemanticsOption,
    read_schema,
)
from tamis.cli.shared.serve_setup import (
    Routing,
    build_guard,
    gateway_runner,
    hosts_of,
    node_settings,
)

EXAMPLES = """\
[bold]Examples[/bold]
  tamis serve
  tamis serve --data /var/lib/tamis --port 4222
  tamis serve --nats nats://nats.example.com:4222
  tamis serve --schema events.json --batch 2048 --wait 5
  tamis serve --http 127.0.0.1:8080
  tamis serve --name paris --port 4222
  tamis serve --name rome --port 4223 --data rome-data --link nats://127.0.0.1:4222
  tamis serve --host 0.0.0.0 --http 0.0.0.0:8443 --tls-cert cert.pem --tls-key key.pem

Then, in other terminals:
  tamis subscribe "price > 100"
  tamis publish '{"price": 120}'

Start it several times, on one machine or on many, and the brokers share the work. Ctrl-C drains:
what has begun is finished. It listens on this machine only, unless told otherwise, and then wants
users (`tamis user add`). See docs/operations/users-and-tls.md, docs/reference/http.md, and
docs/reference/protocol.md for other languages.

With --name and --link, brokers on several NATS servers are one overlay: who subscribes at one gets
what is published at any. `tamis overlay` shows it; docs/guides/overlay.md has it all.
"""


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
    http: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", help="Serve HTTP there too; see docs/reference/http.md."),
    ] = None,
    users: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file of users; without it users.json in the folder of --data, if any.",
        ),
    ] = None,
    tls_cert: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A certificate, for NATS if it is started and for HTTP."),
    ] = None,
    tls_key: Annotated[str | None, typer.Option(metavar="FILE", help="Its key.")] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Be a node of an overlay, called so."),
    ] = None,
    link: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="URL",
            help="Link this node to the one at that NATS server; may be given several times. Who "
            "we are there: TAMIS_LINK_USER and TAMIS_LINK_TOKEN.",
        ),
    ] = None,
    routing: Annotated[
        Routing, typer.Option(help="How events find their way; the same at all nodes.")
    ] = Routing.edge,
    filter_bits: Annotated[
        int,
        typer.Option(min=8, metavar="N", help="Bits of a filter; the same at all nodes."),
    ] = 16_384,
    filter_hashes: Annotated[
        int, typer.Option(min=1, max=64, metavar="N", help="Its hash functions; likewise.")
    ] = 4,
    link_queue: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Events that may wait for a neighbour; then brokers wait."
        ),
    ] = 1_000_000,
    user: UserOption = None,
    tls_ca: AuthorityOption = None,
    max_subscriptions: Annotated[
        int, typer.Option(min=1, metavar="N", help="Subscriptions of one subscriber.")
    ] = 100_000,
    max_selector: Annotated[
        int, typer.Option(min=1, metavar="BYTES", help="The size of a selector.")
    ] = 65_536,
    max_cost: Annotated[
        int, typer.Option(min=1, metavar="N", help="The cost of a selector: about 1 per test.")
    ] = 5_000,
    quiet: QuietOption = False,
) -> None:
    """Match events as they are published, and deliver them to whoever subscribed."""
    import asyncio

    from tamis.broker.config.limits import Limits
    from tamis.broker.config.settings import HOUR, Settings
    from tamis.broker.fabric.server_config import ServerConfig
    from tamis.broker.security.exposure import is_loopback
    from tamis.broker.service.serve import serve as serving

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
        node=node_settings(
            name, link or [], routing.value, (filter_bits, filter_hashes), link_queue, tls_ca
        ),
        limits=Limits(selector=max_selector, cost=max_cost, subscriptions=max_subscriptions),
    )
    server = ServerConfig(store=data, host=host, port=port, sync_always=sync)
    say = (lambda text: None) if quiet else console.note
    file = users if users is not None else data / "users.json"
    known = file if users is not None or file.exists() else None
    guard = build_guard(known, data, prefix, tls_cert, tls_key)
    if tls_cert is None and not all(map(is_loopback, (host, *hosts_of(http)))):
        say("tokens and events travel in the clear: --tls-cert and --tls-key would hide them")
    broker = asyncio.run(
        serving(
            settings,
            url=nats,
            server=server,
            guard=guard,
            companion=gateway_runner(http, guard, say),
            say=say,
            ready=lambda url: say(f"serving at {url}{f' as {name}' * bool(name)}; Ctrl-C to stop"),
            **credentials(user, tls_ca, nats or ""),
        )
    )
    figures = broker.figures
    say(f"{format_count(figures.events, 'event')}, {figures.deliveries:,} delivered")

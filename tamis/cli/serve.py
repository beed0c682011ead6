"""`tamis serve`: run a broker, and a NATS server if none is running."""

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

Start several brokers, on one machine or on many, and they share the work. Ctrl-C drains: the broker
finishes the events it has started. By default it listens on this machine only; to listen elsewhere
it needs users (`tamis user add`). See docs/operations/users-and-tls.md, docs/reference/http.md and,
for clients in other languages, docs/reference/protocol.md.

With --name and --link, brokers on several NATS servers form an overlay: a subscriber at one node
receives what is published at any. `tamis overlay` shows it. See docs/guides/overlay.md.
"""


def serve(
    nats: Annotated[
        str | None,
        typer.Option(
            "--nats",
            metavar="URL",
            help="The NATS server to connect to. Default: the one at --host and --port, which is "
            "started if none is running there.",
        ),
    ] = None,
    data: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The data folder of a NATS server started here.")
    ] = Path("tamis-data"),
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="The address that a NATS server started here listens on."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=1, max=65535, metavar="N", help="The port of that server.")
    ] = 4222,
    sync: Annotated[
        bool,
        typer.Option(
            "--sync",
            metavar="",
            help="Sync every write to disk: what is acknowledged survives a power failure.",
        ),
    ] = False,
    prefix: PrefixOption = "tamis",
    schema: SchemaOption = None,
    semantics: SemanticsOption = Semantics.sql,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="ATTRIBUTE",
            help="The attribute that holds the time of an event, for sequences. Default: the time "
            "at which NATS stored it.",
        ),
    ] = None,
    batch: Annotated[
        int, typer.Option(min=1, metavar="N", help="Match at most this many events at a time.")
    ] = 512,
    wait: Annotated[
        float,
        typer.Option(
            min=0, metavar="MS", help="How long to wait for a batch to fill, in milliseconds."
        ),
    ] = 2.0,
    keep_events: Annotated[
        float, typer.Option(min=0.001, metavar="HOURS", help="How long to keep events.")
    ] = 24.0,
    keep_deliveries: Annotated[
        float, typer.Option(min=0.001, metavar="HOURS", help="How long to keep deliveries.")
    ] = 24.0,
    backlog: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Deliveries to keep per subscriber; beyond that the oldest are dropped.",
        ),
    ] = 100_000,
    dedupe: Annotated[
        float,
        typer.Option(
            min=0.1, metavar="SECONDS", help="For how long NATS detects duplicate deliveries."
        ),
    ] = 120.0,
    ack_wait: Annotated[
        float,
        typer.Option(
            min=1,
            metavar="SECONDS",
            help="Give an event to another broker if it is not acknowledged in this time.",
        ),
    ] = 30.0,
    delivery_wait: Annotated[
        float,
        typer.Option(
            min=1,
            metavar="SECONDS",
            help="Redeliver what a subscriber has not acknowledged in this time.",
        ),
    ] = 30.0,
    replicas: Annotated[
        int,
        typer.Option(
            min=1, max=5, metavar="N", help="Copies of all data, in a cluster of NATS servers."
        ),
    ] = 1,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve the HTTP API at this address; see docs/reference/http.md.",
        ),
    ] = None,
    users: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The users file. Default: users.json in the --data folder, if it exists.",
        ),
    ] = None,
    tls_cert: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="The TLS certificate, for HTTP and for a NATS server started here."
        ),
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option(metavar="FILE", help="The private key of the certificate.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Join an overlay as the node of this name."),
    ] = None,
    link: Annotated[
        list[str] | None,
        typer.Option(
            "--link",
            metavar="URL",
            help="Link this node to the node at this NATS server; may be repeated. The credentials "
            "there are read from TAMIS_LINK_USER and TAMIS_LINK_TOKEN.",
        ),
    ] = None,
    routing: Annotated[
        Routing, typer.Option(help="How events are routed between nodes; the same at all nodes.")
    ] = Routing.edge,
    filter_bits: Annotated[
        int,
        typer.Option(min=8, metavar="N", help="Bits of a Bloom filter; the same at all nodes."),
    ] = 16_384,
    filter_hashes: Annotated[
        int,
        typer.Option(
            min=1,
            max=64,
            metavar="N",
            help="Hash functions of a Bloom filter; the same at all nodes.",
        ),
    ] = 4,
    link_queue: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Events to queue for a neighbour; when the queue is full, brokers wait.",
        ),
    ] = 1_000_000,
    user: UserOption = None,
    tls_ca: AuthorityOption = None,
    max_subscriptions: Annotated[
        int, typer.Option(min=1, metavar="N", help="The most subscriptions per subscriber.")
    ] = 100_000,
    max_selector: Annotated[
        int, typer.Option(min=1, metavar="BYTES", help="The largest size of a selector.")
    ] = 65_536,
    max_cost: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="The largest cost of a selector: about 1 per test."),
    ] = 5_000,
    quiet: QuietOption = False,
) -> None:
    """Run a broker: match published events and deliver them to subscribers."""
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
        say("warning: tokens and events are not encrypted; use --tls-cert and --tls-key")
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

"""`tamis user`: manage the users of a broker."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tamis.cli.shared import console
from tamis.cli.shared.broker_client import PrefixOption
from tamis.cli.shared.exit_codes import Verb, Verbs

if TYPE_CHECKING:
    from tamis.broker.security.users import User, Users

ADD_EXAMPLES = """\
[bold]Examples[/bold]
  tamis user add shop --role publish
  tamis user add ann --role subscribe
  tamis user add ops --role admin
  tamis user add ann --role subscribe --subscriber ann-mobile
  tamis user add robot --role subscribe --nkey new
  tamis user add rome --role link                for the link from the node rome

The token is printed once; only its hash is stored. To use it:
  tamis subscribe "price > 100" --user ann       (with the token in TAMIS_TOKEN)
  curl -H "Authorization: Bearer $TAMIS_TOKEN" …
A running `tamis serve` accepts new users at once. See docs/operations/users-and-tls.md.
"""
EXAMPLES = """\
[bold]Examples[/bold]
  tamis user list
  tamis user remove ann
  tamis user token ann                           replaces the token
  tamis user config > accounts.conf              for a NATS server of your own
"""

FileOption = Annotated[
    Path, typer.Option("--users", metavar="FILE", help="The users file.", show_default=True)
]
DEFAULT = Path("tamis-data/users.json")
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the user.")]

app = typer.Typer(
    cls=Verbs,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Add, list and remove users of a broker.",
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Role(StrEnum):
    """What a user may do."""

    publish = "publish"
    subscribe = "subscribe"
    metrics = "metrics"
    link = "link"
    admin = "admin"


@app.command("add", cls=Verb, epilog=ADD_EXAMPLES)
def add(
    name: NameArgument,
    role: Annotated[
        list[Role],
        typer.Option(
            "--role",
            metavar="ROLE",
            help="[cyan]publish[/cyan], [cyan]subscribe[/cyan], [cyan]metrics[/cyan] or "
            "[cyan]admin[/cyan]; may be repeated. Or [cyan]link[/cyan], alone: the link from the "
            "overlay node NAME.",
        ),
    ],
    subscriber: Annotated[
        list[str] | None,
        typer.Option(
            "--subscriber", metavar="NAME", help="Another subscriber name that the user may use."
        ),
    ] = None,
    nkey: Annotated[
        str | None,
        typer.Option(
            metavar="KEY",
            help="Use this public NKey (U…) instead of a token; [cyan]new[/cyan] creates one and "
            "prints its seed. NKeys work over NATS only, not over HTTP.",
        ),
    ] = None,
    users: FileOption = DEFAULT,
) -> None:
    """Add a user, and print the token: only its hash is stored, so note it now."""
    from tamis.broker.security.users import checked_user, new_nkey, with_new_token, with_nkey
    from tamis.errors import BrokerError

    known = _read(users)
    if name in known.by_name:
        raise BrokerError(
            f"user {name!r} exists; remove it with `tamis user remove`, or replace its token with "
            "`tamis user token`"
        )
    user, secret = checked_user(name, [each.value for each in role], subscriber or ()), None
    if nkey == "new":
        public, secret = new_nkey()
        user = with_nkey(user, public)
    elif nkey is not None:
        user = with_nkey(user, nkey)
    else:
        user, secret = with_new_token(user)
    _write(users, known, user)
    if secret is not None:
        typer.echo(secret)
    console.note(f"added {name} to {users}{'; note the secret, it is not stored' * bool(secret)}")


@app.command("token", cls=Verb, epilog=EXAMPLES)
def token(name: NameArgument, users: FileOption = DEFAULT) -> None:
    """Replace the token of a user, and print the new one; the old one stops working."""
    from tamis.broker.security.users import with_new_token

    known = _read(users)
    user, secret = with_new_token(_find_user(known, name, users))
    _write(users, known, user)
    typer.echo(secret)


@app.command("remove", cls=Verb, epilog=EXAMPLES)
def remove(name: NameArgument, users: FileOption = DEFAULT) -> None:
    """Remove a user; their subscriptions stay until a subscriber of that name removes them."""
    from tamis.broker.security.users import Users, write_users

    known = _read(users)
    _find_user(known, name, users)
    left = {each: user for each, user in known.by_name.items() if each != name}
    write_users(users, Users(left))


@app.command("list", cls=Verb, epilog=EXAMPLES)
def list_(users: FileOption = DEFAULT) -> None:
    """List the users as JSON lines, without the hashes of their tokens."""
    import msgspec

    for name, user in sorted(_read(users).by_name.items()):
        described = {
            "name": name,
            "roles": sorted(user.roles),
            "subscribers": user.all_subscribers,
            "token": bool(user.sha256),
            "nkey": user.nkey or None,
        }
        typer.echo(msgspec.json.encode(described))


@app.command("config", cls=Verb, epilog=EXAMPLES)
def config(
    users: FileOption = DEFAULT,
    prefix: PrefixOption = "tamis",
) -> None:
    """Print the accounts section for the configuration of your own NATS server.

    Brokers connect as the user `tamis-broker`, with the token in the first line.
    """
    import secrets

    from tamis.broker.protocol.names import Names
    from tamis.broker.security.accounts import accounts
    from tamis.broker.security.users import nats_hash

    secret = secrets.token_urlsafe(32)
    typer.echo(f"# TAMIS_USER=tamis-broker TAMIS_TOKEN={secret}")
    typer.echo(accounts(_read(users), Names(prefix), nats_hash(secret)))


def _read(file: Path) -> Users:
    from tamis.broker.security.users import Users, read_users

    return read_users(file) if file.exists() else Users()


def _find_user(known: Users, name: str, file: Path) -> User:
    from tamis.errors import BrokerError

    if name not in known.by_name:
        names = ", ".join(sorted(known.by_name)) or "none"
        raise BrokerError(f"no user {name!r} in {file}; known users: {names}", "unknown")
    return known.by_name[name]


def _write(file: Path, known: Users, user: User) -> None:
    from tamis.broker.security.users import Users, write_users

    write_users(file, Users({**known.by_name, user.name: user}))

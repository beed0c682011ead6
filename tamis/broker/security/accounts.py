"""Who may do what on NATS: accounts of its configuration, as text.

Every user has an account of their own, and imports from that of the brokers exactly what is theirs.
One that runs a link also exports something to it: where the link answers (`overlay/rights.py`).
Permissions in one account would not do: a request names the subject of its answer, and brokers and
JetStream answer to whatever subject that is, in everybody's name: `tamis.sub.ann.close` too. Across
accounts NATS puts a subject of its own in its place. It also keeps everybody's inboxes apart.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from tamis.broker.protocol.link_permissions import link_subjects, relay_subject
from tamis.broker.protocol.names import Names
from tamis.broker.security.users import User, Users

BROKER = "tamis-broker"
_HOME = "TAMIS"


def accounts(users: Users, names: Names, broker_hash: str) -> str:
    """The section of accounts.

    Args:
        users: Everybody.
        names: All names.
        broker_hash: bcrypt of the password of brokers, whose user is `BROKER`.
    """
    quoted = json.dumps  # JSON's strings are strings of this language
    lines = ["accounts {", f"  {_HOME} {{", "    jetstream: enabled", "    users: ["]
    lines.append(f"      {{user: {quoted(BROKER)}, password: {quoted(broker_hash)}}}")
    others = [user for _, user in sorted(users.by_name.items()) if "admin" not in user.roles]
    answering = {user: relay_subject(user.name, names) for user in others if "link" in user.roles}
    admins = [user for _, user in sorted(users.by_name.items()) if "admin" in user.roles]
    lines += [f"      {each}" for user in admins for each in _credentials(user, names)]
    lines += ["    ]", "    exports: ["]
    exported: dict[str, list[str]] = {}
    for user in others:
        for subject in _subjects(user, names):
            exported.setdefault(subject, []).append(_account(user))
    for subject, who in exported.items():
        many = ", response_type: Stream" if _is_stream(subject, names) else ""
        lines.append(
            f"      {{service: {quoted(subject)}{many}, accounts: [{', '.join(map(quoted, who))}]}}"
        )
    lines += ["    ]", "    imports: ["]
    lines += [
        f"      {{service: {{account: {quoted(_account(user))}, subject: {quoted(subject)}}}}}"
        for user, subject in answering.items()
    ]
    lines += ["    ]", "  }"]
    for user in others:
        lines += [f"  {quoted(_account(user))} {{", "    users: ["]
        lines += [f"      {each}" for each in _credentials(user, names)]
        if user in answering:
            served = f"{{service: {quoted(answering[user])}, accounts: [{_HOME}]}}"
            lines += ["    ]", f"    exports: [{served}"]
        lines += ["    ]", "    imports: ["]
        lines += [
            f"      {{service: {{account: {_HOME}, subject: {quoted(subject)}}}}}"
            for subject in _subjects(user, names)
        ]
        lines += ["    ]", "  }"]
    return "\n".join([*lines, "  TAMIS_SYSTEM {}", "}", "system_account: TAMIS_SYSTEM"])


def tls(certificate: str, key: str) -> str:
    """The section of TLS.

    >>> print(tls("cert.pem", "key.pem"))
    tls { cert_file: "cert.pem", key_file: "key.pem", timeout: 5 }
    """
    return (
        f"tls {{ cert_file: {json.dumps(certificate)}, key_file: {json.dumps(key)}, timeout: 5 }}"
    )


def _account(user: User) -> str:
    return f"USER_{user.name}"


def _credentials(user: User, names: Names) -> Iterator[str]:
    """Each way to be known as this user."""
    limited = ""
    if not user.roles & {"admin", "link"}:
        # What comes over a link says of itself where it was published, and is believed.
        denied = json.dumps(names.events_from(">"))
        limited = f", permissions: {{publish: {{deny: [{denied}]}}}}"
    if user.bcrypt:
        known = f"user: {json.dumps(user.name)}, password: {json.dumps(user.bcrypt)}"
        yield f"{{{known}{limited}}}"
    if user.nkey:
        yield f"{{nkey: {user.nkey}{limited}}}"


def _subjects(user: User, names: Names) -> Iterator[str]:
    """What a user may send to."""
    yield names.status
    if "link" in user.roles:
        yield from link_subjects(user.name, names)
    if user.has_role("publish"):
        yield names.events
        yield f"{names.events}.>"
    for subscriber in user.all_subscribers:
        yield from subscriber_subjects(subscriber, names).values()


def subscriber_subjects(subscriber: str, names: Names) -> Mapping[str, str]:
    """What a subscriber sends to: requests, pulls, acknowledgements.

    >>> subscriber_subjects("ann", Names())["pulls"]
    '$JS.API.CONSUMER.MSG.NEXT.TAMIS_DELIVERIES.ann'
    """
    stream = names.delivery_stream
    return {
        "requests": names.request(subscriber, "*"),
        "pulls": f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{subscriber}",
        "acknowledgements": f"$JS.ACK.{stream}.{subscriber}.>",
    }


def _is_stream(subject: str, names: Names) -> bool:
    """Whether one request has many answers."""
    return subject == names.status or subject.startswith("$JS.API.CONSUMER.MSG.NEXT.")

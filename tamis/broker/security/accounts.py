"""Permissions on NATS, as the accounts section of its configuration.

Every user has an account, which imports from the account of the brokers exactly the subjects that
the user may use. The account of a link also exports a subject to the brokers: the one on which the
link answers (`protocol/link_permissions.py`).

Permissions within one account are not enough. A request names the subject of its reply, and brokers
and JetStream reply to that subject with their own permissions, even if it is `tamis.sub.ann.close`.
Across accounts NATS replaces the reply subject with one of its own. Accounts also separate the
inboxes of users.
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
    """Return the accounts section.

    Args:
        users: All users.
        names: The names of the system.
        broker_hash: The bcrypt hash of the password of the brokers, whose user is `BROKER`.
    """
    quoted = json.dumps  # a JSON string is a valid string in a NATS configuration
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
    """Return the TLS section.

    >>> print(tls("cert.pem", "key.pem"))
    tls { cert_file: "cert.pem", key_file: "key.pem", timeout: 5 }
    """
    return (
        f"tls {{ cert_file: {json.dumps(certificate)}, key_file: {json.dumps(key)}, timeout: 5 }}"
    )


def _account(user: User) -> str:
    return f"USER_{user.name}"


def _credentials(user: User, names: Names) -> Iterator[str]:
    """Yield an entry for each credential of a user."""
    limited = ""
    if not user.roles & {"admin", "link"}:
        # An event from a link states its own origin, and brokers trust it. Only links may publish
        # such events.
        denied = json.dumps(names.events_from(">"))
        limited = f", permissions: {{publish: {{deny: [{denied}]}}}}"
    if user.bcrypt:
        known = f"user: {json.dumps(user.name)}, password: {json.dumps(user.bcrypt)}"
        yield f"{{{known}{limited}}}"
    if user.nkey:
        yield f"{{nkey: {user.nkey}{limited}}}"


def _subjects(user: User, names: Names) -> Iterator[str]:
    """Yield the subjects to which a user may publish."""
    yield names.status
    if "link" in user.roles:
        yield from link_subjects(user.name, names)
    if user.has_role("publish"):
        yield names.events
        yield f"{names.events}.>"
    for subscriber in user.all_subscribers:
        yield from subscriber_subjects(subscriber, names).values()


def subscriber_subjects(subscriber: str, names: Names) -> Mapping[str, str]:
    """Return the subjects to which a subscriber publishes: requests, pulls, acknowledgements.

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
    """Return whether one request on this subject has many answers."""
    return subject == names.status or subject.startswith("$JS.API.CONSUMER.MSG.NEXT.")

"""Refuse to listen beyond the loopback interface without users."""

from __future__ import annotations

from ipaddress import ip_address

from tamis.errors import BrokerError


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable only from this machine.

    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "", "a.org")]
    [True, True, True, False, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_exposed(host: str, guarded: bool, what: str) -> None:
    """Check that a server does not listen to the network without authentication.

    Args:
        host: The address to listen on.
        guarded: Whether clients must authenticate.
        what: What would listen: "NATS" or "HTTP".

    Raises:
        BrokerError: Everybody who can reach the machine would have access.
    """
    if guarded or is_loopback(host):
        return
    raise BrokerError(
        f"{what} would listen on {host or 'all addresses'} without authentication; add users "
        "first (tamis user add NAME --role publish --role subscribe), which are stored in "
        "users.json in the --data folder or in the --users file; or listen on 127.0.0.1",
        "exposed",
    )


def parsed_address(text: str) -> tuple[str, int]:
    """Parse an address into host and port.

    >>> parsed_address("0.0.0.0:8080"), parsed_address("8080"), parsed_address("[::1]:80")
    (('0.0.0.0', 8080), ('127.0.0.1', 8080), ('::1', 80))

    Raises:
        BrokerError: It is not HOST:PORT.
    """
    host, colon, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise BrokerError(f"an address must be HOST:PORT, not {text!r}", "request")
    return host.strip("[]") if colon else "127.0.0.1", int(port)

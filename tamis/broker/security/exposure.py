"""Where it is safe to listen: the loopback always, anywhere else only with users."""

from __future__ import annotations

from ipaddress import ip_address

from tamis.errors import BrokerError


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

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
    """See that nobody is let in who should not be.

    Args:
        host: Where to listen.
        guarded: Whether users must say who they are.
        what: What would listen: "NATS", "HTTP".

    Raises:
        BrokerError: Everybody who reaches the machine would be.
    """
    if guarded or is_loopback(host):
        return
    raise BrokerError(
        f"{what} would listen at {host or 'all addresses'} without asking anybody who they are; "
        "make users first (tamis user add NAME --role publish --role subscribe), which go to "
        "users.json in the folder of --data, or to a file for --users; or listen at 127.0.0.1",
        "exposed",
    )


def parsed_address(text: str) -> tuple[str, int]:
    """A host and a port.

    >>> parsed_address("0.0.0.0:8080"), parsed_address("8080"), parsed_address("[::1]:80")
    (('0.0.0.0', 8080), ('127.0.0.1', 8080), ('::1', 80))

    Raises:
        BrokerError: It is none.
    """
    host, colon, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise BrokerError(f"an address is HOST:PORT, not {text!r}", "request")
    return host.strip("[]") if colon else "127.0.0.1", int(port)

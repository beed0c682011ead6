"""TLS contexts for clients."""

from __future__ import annotations

import ssl

from tamis.errors import BrokerError


def tls_context(authority: str | None = None) -> ssl.SSLContext:
    """Return a context that trusts a certificate file, or by default the system's authorities.

    Raises:
        BrokerError: The file cannot be read.
    """
    return _context(authority)


def pinned_tls_context(certificate: str) -> ssl.SSLContext:
    """Return a context that trusts one certificate for any host name: that of our own server.

    Raises:
        BrokerError: The certificate cannot be read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    # The certificate need not be self-signed.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    _load(context, certificate)
    return context


def _context(authority: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if authority is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        _load(context, authority)
    return context


def _load(context: ssl.SSLContext, file: str) -> None:
    try:
        context.load_verify_locations(file)
    except (OSError, ssl.SSLError) as error:
        raise BrokerError(f"{file}: cannot read certificates: {error}", "tls") from None

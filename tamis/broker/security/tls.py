"""TLS, from the side of who connects."""

from __future__ import annotations

import ssl

from tamis.errors import BrokerError


def tls_context(authority: str | None = None) -> ssl.SSLContext:
    """Trust a file of certificates, or, without one, what the system trusts.

    Raises:
        BrokerError: It cannot be read.
    """
    return _context(authority)


def pinned_tls_context(certificate: str) -> ssl.SSLContext:
    """Trust one certificate, whatever host it names: that of a server of our own.

    Raises:
        BrokerError: It cannot be read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    # It need not have signed itself.
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
        raise BrokerError(f"{file}: no certificates: {error}", "tls") from None

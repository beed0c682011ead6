"""Certificates for servers on this machine."""

from pathlib import Path
from typing import NamedTuple

import pytest


class Certified(NamedTuple):
    """Files: a certificate, its key, and the authority that signed it."""

    certificate: str
    key: str
    authority: str


def certified(folder: Path) -> Certified:
    """Create a certificate; skip the test where that is not possible."""
    trustme = pytest.importorskip("trustme")
    authority = trustme.CA()
    made = authority.issue_cert("127.0.0.1", "localhost")
    found = Certified(*(str(folder / name) for name in ("cert.pem", "key.pem", "ca.pem")))
    made.cert_chain_pems[0].write_to_path(found.certificate)
    made.private_key_pem.write_to_path(found.key)
    authority.cert_pem.write_to_path(found.authority)
    return found

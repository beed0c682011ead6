"""Connection settings: authentication, pickling and clear errors."""

import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tamis.broker.client.broker_access import BrokerReader, ConnectionSettings
from tamis.broker.client.loop_thread import LoopThread
from tamis.broker.fabric.server import Server
from tamis.broker.fabric.server_config import ServerConfig
from tamis.errors import BrokerError
from tests.broker.ports import free_port


@contextmanager
def guarded(folder: Path, section: str) -> Iterator[str]:
    """Run a server with authentication."""
    loop = LoopThread()
    config = ServerConfig(store=folder / "js", port=free_port(), sections=(section,))
    server = Server(config)
    loop.run(server.__aenter__())
    try:
        yield server.url
    finally:
        loop.run(server.__aexit__())
        loop.end()


def asked(reach: ConnectionSettings) -> str:
    """Return the error of a read; with valid credentials, that the stream does not exist."""
    with pytest.raises(BrokerError) as caught, BrokerReader(reach) as reading:
        reading.state()
    return str(caught.value)


def test_a_token_authenticates(tmp_path: Path) -> None:
    with guarded(tmp_path, 'authorization { token: "open sesame" }') as url:
        assert "rejects the credentials" in asked(ConnectionSettings(url=url))
        assert "rejects the credentials" in asked(
            ConnectionSettings(url=url, login={"token": "open"})
        )
        reach = ConnectionSettings(url=url, login={"token": "open sesame"})
        assert "there is no stream TAMIS_EVENTS" in asked(pickle.loads(pickle.dumps(reach)))
        assert "sesame" not in repr(reach)


def test_an_nkey_authenticates(tmp_path: Path) -> None:
    nkeys = pytest.importorskip("nkeys", reason="pip install nkeys")
    seed = nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER)
    public = nkeys.from_seed(bytearray(seed)).public_key.decode()
    file = tmp_path / "seed"
    file.write_bytes(seed)
    with guarded(tmp_path, f"authorization {{ users: [{{ nkey: {public} }}] }}") as url:
        assert "rejects the credentials" in asked(ConnectionSettings(url=url))
        assert "there is no stream" in asked(ConnectionSettings(url=url, login={"nkey": str(file)}))


def test_an_unreachable_server_and_missing_files_are_reported() -> None:
    nowhere = f"nats://127.0.0.1:{free_port()}"
    assert "no NATS server answers" in asked(ConnectionSettings(url=nowhere, timeout=0.3))
    login = {"tlsCa": "/nowhere/ca.pem"}
    assert "cannot load the TLS files" in asked(ConnectionSettings(url=nowhere, login=login))

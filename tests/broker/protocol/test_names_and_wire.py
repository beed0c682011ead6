"""Names, keys, headers, errors and configurations, without a server."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis import errors
from tamis.broker.fabric.connection import open_connection
from tamis.broker.fabric.server import binary
from tamis.broker.fabric.server_config import ServerConfig
from tamis.broker.protocol.names import Names, checked_id, checked_name, key_of, parts_of
from tamis.broker.protocol.time_to_live import (
    remaining_ttl,
    remaining_ttl_headers,
    ttl_headers,
    ttl_seconds,
)
from tamis.broker.protocol.wire import (
    decode_object,
    encode_json,
    place_of,
    raise_refusal,
    refusal,
)
from tamis.broker.service.broker import Broker
from tamis.language import parse
from tests.broker.conftest import run
from tests.broker.ports import free_port

names = st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True)
ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=50)


@given(names, ids, names, ids)
def test_keys_are_subject_tokens_and_round_trip(
    one: str, id: str, other: str, other_id: str
) -> None:
    key = key_of(one, id)
    assert parts_of(key) == (one, id)
    assert set(key) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=.")
    assert key.count(".") == 1 and not key.endswith(".")
    assert (key == key_of(other, other_id)) == ((one, id) == (other, other_id))


@pytest.mark.parametrize("name", ["", "a.b", "a b", "*", ">", "é", "x" * 65, 5, "a\n"])
def test_invalid_names_are_refused(name: object) -> None:
    with pytest.raises(errors.BrokerError):
        checked_name(name)  # type: ignore[arg-type]


@pytest.mark.parametrize("id", ["", "x" * 201, "\ud800", None, 5])
def test_invalid_ids_are_refused(id: object) -> None:
    with pytest.raises(errors.BrokerError):
        checked_id(id)  # type: ignore[arg-type]


@pytest.mark.parametrize("key", ["", "a", ".b", "a.", "a b.c"])
def test_invalid_keys_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match="is not the key"):
        parts_of(key)


@given(st.text(max_size=30))
def test_selector_errors_round_trip(text: str) -> None:
    try:
        parse(text)
    except errors.SelectorError as error:
        with pytest.raises(errors.SelectorError) as caught:
            raise_refusal(decode_object(encode_json(refusal(error))), text)
        assert type(caught.value) is type(error)
        assert str(caught.value) == str(error) and caught.value.__dict__ == error.__dict__


def test_other_errors_round_trip() -> None:
    with pytest.raises(errors.BrokerError) as caught:
        raise_refusal(refusal(errors.BrokerError("too many", "limit")))
    assert (caught.value.reason, caught.value.code) == ("too many", "limit")
    raise_refusal({"id": "a"})


def test_a_reply_subject_gives_the_place_of_a_message() -> None:
    short = place_of("$JS.ACK.S.c.3.17.5.1700000000000000000.9")
    assert short == (3, 17, 1700000000000000000, 9)
    assert place_of("$JS.ACK.hub.ACC.S.c.3.17.5.1700000000000000000.9.x") == short
    assert place_of("$JS.ACK._.ACC.S.c.3.17.5.1700000000000000000.9") == short


def test_a_time_to_live_is_parsed_like_nats_does() -> None:
    assert [ttl_seconds(ttl) for ttl in ("5", "1h2m3s", "1.5s", "250ms", "never", "")] == [
        5,
        3723,
        1.5,
        0.25,
        None,
        None,
    ]


def test_the_remaining_time_to_live_counts_from_when_nats_stored_the_message() -> None:
    second = 1_000_000_000
    assert remaining_ttl({"Nats-TTL": "1m"}, 5 * second, 25 * second) == 40
    assert remaining_ttl({"Nats-TTL": "10"}, 0, 11 * second) == -1
    assert remaining_ttl({"Nats-TTL": "never"}, 0, second) is None
    assert remaining_ttl({}, 0, second) is remaining_ttl(None, 0, second) is None
    assert remaining_ttl_headers(39.001) == {"Nats-TTL": "40"}
    assert remaining_ttl_headers(-1) == {"Nats-TTL": "1"}
    assert remaining_ttl_headers(None) == ttl_headers(None) == {}


def test_names_of_two_prefixes_are_disjoint() -> None:
    one, other = Names("a"), Names("b")
    for name in ("event_stream", "delivery_stream", "dead_stream", "subscriptions", "state"):
        assert getattr(one, name) != getattr(other, name)
    with pytest.raises(errors.BrokerError):
        Names("a.b")


def test_the_server_reads_its_configuration(tmp_path: Path) -> None:
    file = tmp_path / "nats.conf"
    odd = ServerConfig(
        store=tmp_path / 'a "b" \\ é',
        port=-1,
        sync_always=True,
        max_store=1 << 30,
        sections=("max_connections: 5",),
    )
    file.write_text(odd.text())
    done = subprocess.run([binary(), "-t", "-c", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_server_without_jetstream_is_refused() -> None:
    port = free_port()
    server = subprocess.Popen(
        [binary(), "-a", "127.0.0.1", "-p", str(port)], stderr=subprocess.DEVNULL
    )

    async def work() -> None:
        connection = await open_connection(f"nats://127.0.0.1:{port}")
        with pytest.raises(errors.BrokerError, match="JetStream"):
            async with Broker(connection):
                pass
        await connection.close()

    try:
        run(work())
    finally:
        server.kill()
        server.wait()

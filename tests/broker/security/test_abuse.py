"""Garbage, floods and silence on every subject and endpoint are refused; the service survives."""

import json
import random
import resource
import socket
import time
from urllib.parse import urlsplit

import httpx
import msgspec
import nats
import pytest

from tests.broker.conftest import run
from tests.broker.whole_service import LIMITS, Service
from tests.soak import count, record

VERBS = ("put", "put_many", "remove", "get", "list", "renew", "open", "close", "nothing", "PUT")
GARBAGE = (
    b"",
    b"\x00",
    b"\xff\xfe\xfd",
    b"null",
    b"[]",
    b"5",
    b'"x"',
    b"{",
    b'{"id": 5}',
    b'{"id": ""}',
    b'{"id": "' + b"x" * 300 + b'", "selector": "a = 1"}',
    b'{"id": "x", "selector": 5}',
    b'{"id": "x", "selector": "a ="}',
    b'{"id": "x", "selector": "a = 1", "priority": "high"}',
    b'{"id": "x", "selector": "a = 1", "priority": 1e400}',
    b'{"id": "x", "selector": "a = 1", "ttl": -1}',
    b'{"id": "x", "selector": "a = 1", "ttl": 1e300}',
    b'{"id": "\\ud800", "selector": "a = 1"}',
    b'{"selector": "' + b"(" * 3000 + b'"}',
    b'{"selector": "NOT ' + b"NOT " * 900 + b'a"}',
    b'{"subscriptions": 5}',
    b'{"subscriptions": [null, 5, {}, {"selector": ""}]}',
    b'{"ids": [null]}',
    b'{"passing": "long"}',
    b'{"after": 5}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"x" * 900_000,
)


def test_garbage_on_every_subject_is_refused(service: Service) -> None:
    async def work() -> None:
        fred = await nats.connect(service.nats, user="fred", password=service.tokens["fred"])
        for verb in VERBS:
            for body in GARBAGE:
                if verb in ("open", "close", "renew", "list") and body == b"":
                    continue
                answer = await fred.request(f"tamis.sub.fred.{verb}", body, timeout=20)
                told = json.loads(answer.data)
                good = "error" not in told and verb in ("open", "close", "renew", "list")
                errors = [each for each in told.get("results", ()) if "error" in each]
                if not good and not errors:
                    assert told["error"]["message"], (verb, body[:40])
                    assert told["error"]["code"] != "internal", (verb, body[:40], told)
        shop = await nats.connect(service.nats, user="shop", password=service.tokens["shop"])
        for body in GARBAGE:
            await shop.request("tamis.events", body, timeout=20)
            await shop.publish("tamis.events.any.word", body)
        stream = "TAMIS_DELIVERIES"
        for body in GARBAGE:
            await fred.publish(f"$JS.API.CONSUMER.MSG.NEXT.{stream}.fred", body, reply="x")
            await fred.publish(f"$JS.ACK.{stream}.fred.1.1.1.1.1", body)
            await fred.publish(f"$JS.ACK.{stream}.fred.junk", body)
            await fred.publish("tamis.status", body, reply="x")
        with pytest.raises(nats.errors.MaxPayloadError):
            await shop.publish("tamis.events", b"x" * (shop.max_payload + 1))
        await fred.close()
        await shop.close()

    run(work(), 120)
    service.works()


def test_an_oversized_message_ends_the_connection_of_its_sender(service: Service) -> None:
    """Send what NATS clients refuse to send."""
    there = urlsplit(service.nats)
    with socket.create_connection((there.hostname, there.port or 4222), timeout=10) as raw:
        raw.recv(4096)
        login = {"user": "shop", "pass": service.tokens["shop"], "verbose": False}
        raw.sendall(b"CONNECT " + json.dumps(login).encode() + b"\r\nPING\r\n")
        assert b"PONG" in raw.recv(4096)
        raw.sendall(b"PUB tamis.events 5000000\r\n")
        said = b""
        while part := raw.recv(4096):
            said += part
        assert b"Maximum Payload" in said
    service.works()


def test_no_subscriber_has_more_subscriptions_than_the_limit(service: Service) -> None:
    """Try 100,000 subscriptions in `make soak`, against a limit of 300."""
    many = count(3_000, 100_000)
    before = _memory()
    began = time.monotonic()

    async def work() -> None:
        async with service.connect("gina", timeout=60.0) as gina:
            await gina.forget()
        raw = await nats.connect(service.nats, user="gina", password=service.tokens["gina"])
        taken, refused = 0, []
        for low in range(0, many, 1000):
            rows = [{"id": f"s{i}", "selector": f"a = {i}"} for i in range(low, low + 1000)]
            body = msgspec.json.encode({"subscriptions": rows})
            answer = await raw.request("tamis.sub.gina.put_many", body, timeout=60)
            for result in json.loads(answer.data)["results"]:
                if "error" in result:
                    refused.append(result["error"])
                else:
                    taken += 1
        assert taken == LIMITS.subscriptions and len(refused) == many - taken
        assert {each["code"] for each in refused} == {"limit"}
        assert "300 subscriptions" in refused[0]["message"]
        one = await raw.request("tamis.sub.gina.put", b'{"id": "x", "selector": "a = 1"}')
        assert json.loads(one.data)["error"]["code"] == "limit"
        # Existing subscriptions can still be changed.
        one = await raw.request("tamis.sub.gina.put", b'{"id": "s1", "selector": "a = 2"}')
        assert json.loads(one.data)["id"] == "s1"
        body = msgspec.json.encode({"subscriptions": [{"selector": "a = 1"}] * 10_001})
        told = json.loads((await raw.request("tamis.sub.gina.put_many", body)).data)
        assert told["error"]["code"] == "limit"
        await raw.request("tamis.sub.gina.close", b"")
        await raw.close()

    run(work(), 600)
    grown = _memory() - before
    assert grown < 200 * 1024 * 1024
    record(
        "subscriptions beyond the limit",
        asked=many,
        seconds=round(time.monotonic() - began, 1),
        grown_mib=round(grown / 2**20, 1),
    )
    service.works()


def test_selectors_that_cost_too_much_are_refused(service: Service) -> None:
    with service.web("ida") as ida:
        path = "/subscribers/ida/subscriptions/x"
        for selector, why in {
            " OR ".join(f"a = {i}" for i in range(201)): "cost",
            "a RLIKE 'x{1000}' AND b RLIKE 'y{1000}'": "cost",
            "a = '" + "x" * 5000 + "'": "4,096 bytes",
        }.items():
            answer = ida.put(path, json={"selector": selector})
            assert answer.status_code == 413 and why in answer.json()["error"]["message"]
            answer = ida.post("/explain", json={"selector": selector, "event": {}})
            assert answer.status_code == 413
        fits = " OR ".join(f"a = {i}" for i in range(200))
        assert ida.put(path, json={"selector": fits}).status_code == 200


def test_oversized_and_slow_requests_are_refused(service: Service) -> None:
    with service.web("shop") as shop, service.web("ida") as ida:
        big = {"x": "y" * 300_000}
        assert shop.post("/events", json=big).status_code == 413
        # Without a length, too.
        parts = (b"[" if i == 0 else b"1," * 20_000 for i in range(20))
        kind = {"Content-Type": "application/json"}
        try:
            assert shop.post("/events", content=parts, headers=kind).status_code == 413
        except httpx.HTTPError:
            pass  # the connection is closed while the client still sends
        answer = shop.post("/events", json={"x": "y" * 70_000})
        assert answer.status_code == 413 and "65,536 bytes" in answer.json()["error"]["message"]
        many = {"subscriptions": [{"selector": "a = 1"}] * 8000}
        assert ida.post("/subscribers/ida/subscriptions", json=many).status_code in (207, 413)
        wrong = shop.post("/events", content=b"{}", headers={"Content-Type": "text/plain"})
        assert wrong.status_code == 415
        assert shop.post("/events?ttl=soon", json={}).status_code == 400
        assert ida.get("/subscribers/ida/deliveries?ack=perhaps").status_code == 400
        for last in ("x", "1", "1-2", "9" * 30 + "-1-1", "-1-1-1"):
            header = {"Last-Event-ID": last}
            answer = ida.get("/subscribers/ida/deliveries?idle=0.1", headers=header)
            assert answer.status_code == 400, last
        assert ida.post("/subscribers/ida/acks", json={"ids": ["1.1.x"]}).status_code == 400
        assert ida.patch("/subscribers/ida").status_code == 405
        assert ida.get("/nothing").json()["error"]["code"] == "unknown"
    token = service.tokens["shop"]
    head = f"POST /events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    body = "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    for begun, answer in {head: b"", head + body: b"408", "\x00\x01\r\n\r\n": b"400"}.items():
        assert _said(service, begun.encode()).startswith(b"HTTP/1.1 " + answer if answer else b"")
    service.works()


def test_the_service_survives_raw_noise(service: Service) -> None:
    made = random.Random(9)
    for _ in range(count(20, 500)):
        noise = made.randbytes(made.randrange(1, 3000))
        if made.random() < 0.5:
            noise = made.choice((b"GET ", b"POST /events ", b"PUT /subscribers/")) + noise
        for url in (service.http, service.nats):
            there = urlsplit(url)
            with socket.create_connection((there.hostname, there.port or 80), 5) as raw:
                raw.sendall(noise + b"\r\n\r\n")
    service.works()


def test_a_reader_that_does_not_read_harms_nobody(service: Service) -> None:
    with service.web("ida") as ida, service.web("shop") as shop:
        ida.delete("/subscribers/ida")
        ida.put("/subscribers/ida/subscriptions/x", json={"selector": "blob IS NOT NULL"})
        there = urlsplit(service.http)
        with socket.create_connection((there.hostname, there.port or 80)) as raw:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            token = service.tokens["ida"]
            head = "GET /subscribers/ida/deliveries HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
            raw.sendall(f"{head}{token}\r\n\r\n".encode())
            for _ in range(40):
                shop.post("/events", json=[{"blob": "x" * 60_000}] * 4)
            service.works()
        # It is gone. The next reader gets what it did not read, and with an id everything.
        stream = "/subscribers/ida/deliveries?idle=1.5"
        assert "event: match" in ida.get(stream).text
        all_of_it = ida.get(stream, headers={"Last-Event-ID": "1-1-1"}).text
        assert all_of_it.count("event: match") == 160
        ida.delete("/subscribers/ida")


def _said(service: Service, sent: bytes) -> bytes:
    there = urlsplit(service.http)
    with socket.create_connection((there.hostname, there.port or 80), timeout=10) as raw:
        raw.sendall(sent)
        said = b""
        while part := raw.recv(4096):
            said += part
        return said


def _memory() -> int:
    """Return the peak memory of this process, which includes the broker."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

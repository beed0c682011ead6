"""A subscriber can neither read nor change the data of another, over NATS and HTTP."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import httpx
import nats
import pytest
from nats.aio.client import Client as Nats

import tamis
from tamis.broker.security.tls import tls_context
from tamis.broker.security.users import (
    Users,
    checked_user,
    new_nkey,
    read_users,
    with_nkey,
    write_users,
)
from tamis.errors import BrokerError
from tests.broker.certificates import certified
from tests.broker.conftest import run
from tests.broker.whole_service import Service


async def as_user(service: Service, name: str, **options: Any) -> Nats:
    """A plain client of NATS, which knows nothing of Tamis."""
    given = {"user": name, "password": service.tokens[name]} | options
    return await nats.connect(service.nats, allow_reconnect=False, **given)


async def asked(client: Nats, subject: str, body: object = None, wait: float = 0.7) -> Any:
    """Return the answer, or None if there is none."""
    try:
        data = json.dumps(body or {}).encode()
        return json.loads((await client.request(subject, data, timeout=wait)).data)
    except (nats.errors.NoRespondersError, nats.errors.TimeoutError):
        return None


def test_over_nats_bob_neither_reads_nor_changes_what_is_anns(service: Service) -> None:
    async def work() -> None:
        heard: list[str] = []

        async def hear(message: Any) -> None:
            heard.append(message.subject)

        bob = await as_user(service, "bob", error_cb=_ignored)
        # Every subject, and every request.
        for subject in (">", "tamis.>", "_INBOX.>", "$JS.>", "tamis.deliver.ann", "_R_.>"):
            await bob.subscribe(subject, cb=hear)
        await bob.flush()
        async with service.connect("ann") as ann, service.connect("shop") as shop:
            await ann.forget()
            await ann.subscribe("secret > 0", id="mine")
            await shop.publish_many([{"secret": i} for i in range(1, 4)])
            got = [m async for m in ann.messages(limit=3, timeout=10)]
            assert [m.event["secret"] for m in got] == [1, 2, 3]
            stream = "TAMIS_DELIVERIES"
            heard.clear()
            for subject, body in {
                "tamis.sub.ann.list": {},
                "tamis.sub.ann.get": {"id": "mine"},
                "tamis.sub.ann.put": {"id": "his", "selector": "a = 1"},
                "tamis.sub.ann.remove": {"id": "mine"},
                "tamis.sub.ann.close": {},
                f"$JS.API.CONSUMER.MSG.NEXT.{stream}.ann": {"batch": 10},
                f"$JS.API.STREAM.MSG.GET.{stream}": {"last_by_subj": "tamis.deliver.ann"},
                f"$JS.API.DIRECT.GET.{stream}": {"last_by_subj": "tamis.deliver.ann"},
                "$JS.API.STREAM.MSG.GET.TAMIS_EVENTS": {"seq": 1},
                "$JS.API.STREAM.MSG.GET.KV_tamis-subscriptions": {"seq": 1},
                f"$JS.API.CONSUMER.CREATE.{stream}": {"stream_name": stream, "config": {}},
                f"$JS.API.STREAM.PURGE.{stream}": {},
                f"$JS.API.CONSUMER.DELETE.{stream}.ann": {},
                "$JS.API.STREAM.NAMES": {},
            }.items():
                answer = await asked(bob, subject, body, 0.3)
                assert answer is None or "error" in answer, (subject, answer)
            # He may not publish: events, deliveries, subscriptions.
            for subject in ("tamis.events", "tamis.deliver.ann", "$KV.tamis-subscriptions.ann.x"):
                assert await asked(bob, subject, {"secret": 9}, 0.3) is None
            # Nor acknowledge for her: her messages are still open, and she gets them again.
            for place in (1, 2, 3):
                await bob.publish(f"$JS.ACK.{stream}.ann.1.{place}.{place}.0.0", b"+ACK")
            await bob.flush()
            assert [each["id"] for each in await ann.subscriptions()] == ["mine"]
            theirs = [subject for subject in heard if not subject.startswith("_INBOX")]
            # In his own account he sees only what he sent himself.
            assert not [each for each in theirs if each.startswith("tamis.deliver.ann.")]
            info = await service_info(service, "ann")
            assert info.num_ack_pending == 3
            for message in got:
                await message.ack()
        await bob.close()

    run(work())


async def service_info(service: Service, consumer: str) -> Any:
    ops = await as_user(service, "ops")
    try:
        return await ops.jetstream().consumer_info("TAMIS_DELIVERIES", consumer)
    finally:
        await ops.close()


def test_a_reply_cannot_go_to_the_subject_of_another_user(service: Service) -> None:
    """A request chooses where its answer goes, which is sent with the rights of the responder."""

    async def work() -> None:
        async with service.connect("carl") as carl:
            await carl.subscribe("a = 1", id="keep")
            dora = await as_user(service, "dora")
            shop = await as_user(service, "shop")
            target = "tamis.sub.carl.close"
            await dora.publish("tamis.sub.dora.list", b"{}", reply=target)
            await dora.publish("tamis.status", b"", reply=target)
            await shop.publish("tamis.events", b'{"a": 2}', reply=target)
            await dora.request("tamis.sub.dora.put", b'{"id": "x", "selector": "evil = 1"}')
            await dora.request("tamis.sub.dora.open", b"{}")
            pull = "$JS.API.CONSUMER.MSG.NEXT.TAMIS_DELIVERIES.dora"
            body = b'{"batch": 5, "expires": 2000000000}'
            await dora.publish(pull, body, reply="tamis.sub.carl.put")
            forged = json.dumps({"evil": 1, "id": "forged", "selector": "a = 2"}).encode()
            await shop.request("tamis.events", forged)
            await asyncio.sleep(1)
            assert [each["id"] for each in await carl.subscriptions()] == ["keep"]
            await dora.close()
            await shop.close()

    run(work())


def test_over_nats_a_subscriber_may_not_publish_nor_a_publisher_subscribe(
    service: Service,
) -> None:
    async def work() -> None:
        async with service.connect("eve", timeout=1.0) as eve:
            with pytest.raises(BrokerError):
                await eve.publish({"a": 1})
        async with service.connect("shop", subscriber="shop", timeout=1.0) as shop:
            with pytest.raises(BrokerError):
                await shop.subscribe("a = 1")

    run(work())


def test_over_http_bob_neither_reads_nor_changes_what_is_anns(service: Service) -> None:
    with service.web("ann") as ann, service.web("bob") as bob, service.web("shop") as shop:
        ann.delete("/subscribers/ann")
        ann.put("/subscribers/ann/subscriptions/mine", json={"selector": "private > 0"})
        shop.post("/events", json=[{"private": 1}])
        base = "/subscribers/ann"
        answers: list[httpx.Response] = [
            bob.get(f"{base}/subscriptions"),
            bob.get(f"{base}/subscriptions/mine"),
            bob.put(f"{base}/subscriptions/his", json={"selector": "a = 1"}),
            bob.post(f"{base}/subscriptions", json={"selector": "a = 1"}),
            bob.delete(f"{base}/subscriptions/mine"),
            bob.delete(base),
            bob.post(f"{base}/renew"),
            bob.get(f"{base}/deliveries?idle=1"),
            bob.post(f"{base}/acks", json={"ids": ["1-1-1"]}),
            bob.post(f"{base}/explain", json={"id": "mine", "event": {}}),
            bob.get(f"{base}/lint"),
            bob.get("/metrics"),
            bob.post("/events", json={"private": 2}),
            shop.get(f"{base}/deliveries"),
            shop.get("/subscribers/shop/subscriptions"),
        ]
        assert {each.status_code for each in answers} == {403}
        assert not any("private" in each.text or "mine" in each.text for each in answers)
        # Nor with other spellings of the name.
        for name in ("ANN", "ann%20", "./ann", "bob/../ann", "%61nn", "ann%00", "*", ">", "ann.x"):
            answer = bob.get(f"/subscribers/{name}/subscriptions")
            assert answer.status_code in (400, 403, 404), (name, answer.text)
        text = ann.get(f"{base}/deliveries?limit=1&idle=5").text
        assert '{"private": 1}' in text or '{"private":1}' in text
        # An admin may.
        with service.web("ops") as ops:
            assert ops.get(f"{base}/subscriptions/mine").status_code == 200
        ann.delete(base)


def test_wrong_tokens_are_refused_clearly(service: Service) -> None:
    good = service.tokens["ann"]
    for token in ("wrong", good[:-1], good + "x", "é", "x" * 9000):
        with service.web(None) as nobody:
            header = {"Authorization": f"Bearer {token}".encode()}
            answer = nobody.get("/subscribers/ann/subscriptions", headers=header)
        assert answer.status_code == 401, token[:20]
        assert answer.headers["www-authenticate"] == "Bearer"
        assert answer.json()["error"]["code"] == "auth"
        assert token[:5] not in answer.text

    for given in ("", "Bearer", "Basic YTpi", service.tokens["ann"]):
        with service.web(None) as nobody:
            answer = nobody.get("/subscribers/ann/subscriptions", headers={"Authorization": given})
        assert answer.status_code == 401

    async def work() -> None:
        for options in (
            {},
            {"user": "ann", "password": "wrong"},
            {"user": "ann", "password": service.tokens["bob"]},
            {"user": "tamis-broker", "password": ""},
            {"token": service.tokens["ann"]},
        ):
            with pytest.raises(BrokerError, match="rejects the credentials") as refused:
                async with tamis.connect(service.nats, timeout=3.0, **options):
                    pass
            assert refused.value.code == "auth"

    run(work())
    service.works()


def test_users_come_and_go_while_it_runs(service: Service) -> None:
    known = read_users(service.file)
    public, seed = new_nkey()
    robot = with_nkey(checked_user("robot", ["subscribe"], ["robot-2"]), public)
    write_users(service.file, Users({**known.by_name, "robot": robot}))

    async def comes() -> None:
        deadline = time.monotonic() + 15
        while True:
            try:
                async with tamis.connect(service.nats, "robot-2", nkeys_seed_str=seed) as c:
                    await c.subscribe("a = 1", id="x")
                    assert len(await c.subscriptions()) == 1
                    return
            except BrokerError:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.3)

    run(comes())
    with service.web("hugo") as hugo:
        assert hugo.get("/subscribers/hugo/subscriptions").status_code == 200
        left = {name: user for name, user in known.by_name.items() if name != "hugo"}
        write_users(service.file, Users(left))
        assert hugo.get("/subscribers/hugo/subscriptions").status_code == 401

    async def is_gone() -> None:
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            try:
                async with service.connect("hugo", timeout=1.0):
                    await asyncio.sleep(0.3)
            except BrokerError:
                return
        pytest.fail("hugo still gets in")

    run(is_gone())
    # An invalid file neither locks users out nor lets anybody in.
    service.file.write_text("{ oh")
    with service.web("ann") as ann, service.web("hugo") as hugo:
        assert ann.get("/subscribers/ann/subscriptions").status_code == 200
        assert hugo.get("/subscribers/hugo/subscriptions").status_code == 401
    write_users(service.file, known)
    service.works()


def test_tls_is_used_and_checked(tmp_path: Path) -> None:
    cert, key, ca = certified(tmp_path)
    service = Service(tmp_path, (cert, key), authority=ca)
    service.start()
    try:
        service.works()
        assert service.http.startswith("https://")
        with pytest.raises(httpx.ConnectError):  # the system does not trust it
            httpx.get(service.http + "/healthz")
        with pytest.raises(httpx.HTTPError):
            httpx.get(service.http.replace("https", "http") + "/healthz")

        async def work() -> None:
            with pytest.raises(BrokerError, match="certificate") as refused:
                async with service.connect("ann", tls=tls_context(None), timeout=3.0):
                    pass
            assert refused.value.code == "tls"

        run(work())
    finally:
        service.stop()


async def _ignored(error: Exception) -> None:
    """Ignore errors: refusals are expected."""

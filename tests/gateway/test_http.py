"""The gateway does what docs/reference/http.md promises, over real HTTP."""

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tamis.gateway.endpoints import ENDPOINTS
from tests.broker.whole_service import Service


@pytest.fixture
def ann(service: Service) -> Iterator[httpx.Client]:
    with service.web("ann") as client:
        client.delete("/subscribers/ann")
        yield client


@pytest.fixture
def shop(service: Service) -> Iterator[httpx.Client]:
    with service.web("shop") as client:
        yield client


def matches(text: str) -> list[dict[str, Any]]:
    """The deliveries of a stream, with their ids."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if lines.get("event") == "match":
            found.append({"word": lines["id"], **json.loads(lines["data"])})
    return found


def test_a_subscription_is_created_changed_listed_and_removed(ann: httpx.Client) -> None:
    base = "/subscribers/ann/subscriptions"
    put = ann.put(f"{base}/dear", json={"selector": "price > 100", "priority": 2})
    assert put.status_code == 200 and put.json()["id"] == "dear"
    got = ann.get(f"{base}/dear").json()
    assert (got["selector"], got["priority"]) == ("price > 100", 2)
    assert ann.put(f"{base}/dear", json={"selector": "price > 200"}).status_code == 200
    made = ann.post(base, json={"selector": "a = 1", "ttl": 60})
    assert made.status_code == 201
    page = ann.get(base).json()
    assert {each["id"] for each in page["subscriptions"]} == {"dear", made.json()["id"]}
    assert page["more"] is False
    assert ann.get(base, params={"after": "~"}).json()["subscriptions"] == []
    assert ann.post("/subscribers/ann/renew").json() == {"renewed": 1}
    assert ann.delete(f"{base}/dear").json()["removed"] == 1
    assert ann.get(f"{base}/dear").status_code == 404
    assert ann.delete(f"{base}/dear").status_code == 404


@pytest.mark.parametrize("id", ["a/b", "prix < 10 €", "%2F", "..%", "explain", "x" * 200])
def test_an_id_is_any_text(ann: httpx.Client, id: str) -> None:
    from urllib.parse import quote

    path = f"/subscribers/ann/subscriptions/{quote(id, safe='')}"
    assert ann.put(path, json={"selector": "a = 1"}).json()["id"] == id
    assert ann.get(path).json()["id"] == id
    assert ann.delete(path).json()["removed"] == 1


def test_many_subscriptions_are_accepted_or_refused_one_by_one(ann: httpx.Client) -> None:
    rows = [{"id": "good", "selector": "a = 1"}, {"id": "bad", "selector": "a = "}]
    answer = ann.post("/subscribers/ann/subscriptions", json={"subscriptions": rows})
    assert answer.status_code == 207
    good, bad = answer.json()["results"]
    assert good["id"] == "good" and bad["error"]["code"] == "selector"
    rows = rows[:1]
    answer = ann.post("/subscribers/ann/subscriptions", json={"subscriptions": rows})
    assert answer.status_code == 201


def test_a_refused_selector_says_where_and_why(ann: httpx.Client) -> None:
    answer = ann.put("/subscribers/ann/subscriptions/x", json={"selector": "a = 1 AND\nprize >> 1"})
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert (error["code"], error["kind"], error["line"], error["column"]) == (
        "selector",
        "syntax",
        2,
        8,
    )
    assert error["message"].splitlines()[-1].strip() == "^"
    answer = ann.put("/subscribers/ann/subscriptions/x", json={"selector": "contain(a, 'b')"})
    assert "contains" in answer.json()["error"]["hint"]


def test_events_are_delivered_as_they_were_published(ann: httpx.Client, shop: httpx.Client) -> None:
    ann.put("/subscribers/ann/subscriptions/n", json={"selector": "n >= 0", "priority": 7})
    text = '{"n":  1, "odd": 1.50, "z": "\\u00e9\\n"}'
    one = shop.post("/events", content=text, headers={"Content-Type": "application/json"})
    assert one.status_code == 202
    many = shop.post("/events", json=[{"n": 2}, {"n": -1}, {"n": 3}])
    lines = shop.post(
        "/events",
        content=b'{"n": 4}\n\n{"n":5}\n',
        headers={"Content-Type": "application/x-ndjson"},
    )
    first = one.json()["sequence"]
    assert many.json()["sequences"] == [first + 1, first + 2, first + 3]
    assert lines.json()["sequences"] == [first + 4, first + 5]
    answer = ann.get("/subscribers/ann/deliveries?limit=5")
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = matches(answer.text)
    assert [each["event"]["n"] for each in found] == [1, 2, 3, 4, 5]
    assert found[0]["event"] == json.loads(text) and '"odd": 1.50' in answer.text
    assert found[0]["subscriptions"] == ["n"] and found[0]["priority"] == 7
    assert found[0]["sequence"] == first and not found[0]["redelivered"]
    assert abs(found[0]["time"] - time.time()) < 60
    # They were acknowledged.
    assert matches(ann.get("/subscribers/ann/deliveries?idle=0.2").text) == []


def test_an_idempotency_key_stores_an_event_once(shop: httpx.Client) -> None:
    key = {"Idempotency-Key": f"k{time.time_ns()}"}
    first = shop.post("/events", json={"a": 1}, headers=key).json()
    assert shop.post("/events", json={"a": 1}, headers=key).json() == first
    many = shop.post("/events", json=[{"a": 1}, {"a": 2}], headers=key).json()["sequences"]
    again = shop.post("/events", json=[{"a": 1}, {"a": 2}], headers=key).json()["sequences"]
    assert many == again and many[1] == many[0] + 1


def test_nothing_is_published_if_one_event_is_invalid(
    shop: httpx.Client, ann: httpx.Client
) -> None:
    ann.put("/subscribers/ann/subscriptions/n", json={"selector": "half = TRUE"})
    answer = shop.post("/events", json=[{"half": True}, 5])
    assert answer.status_code == 400 and "event 1" in answer.json()["error"]["message"]
    assert matches(ann.get("/subscribers/ann/deliveries?idle=0.3").text) == []


def test_a_reader_that_was_cut_off_gets_what_it_missed(
    ann: httpx.Client, shop: httpx.Client
) -> None:
    ann.put("/subscribers/ann/subscriptions/m", json={"selector": "m > 0"})
    shop.post("/events", json=[{"m": i} for i in range(1, 7)])
    sent = matches(ann.get("/subscribers/ann/deliveries?limit=4").text)
    assert [each["event"]["m"] for each in sent] == [1, 2, 3, 4]
    # Of these only two arrived.
    back = {"Last-Event-ID": sent[1]["word"]}
    got = matches(ann.get("/subscribers/ann/deliveries?idle=1", headers=back).text)
    assert [each["event"]["m"] for each in got] == [3, 4, 5, 6]
    assert [each["redelivered"] for each in got[:2]] == [True, True]
    back = {"Last-Event-ID": got[-1]["word"]}
    assert matches(ann.get("/subscribers/ann/deliveries?idle=0.3", headers=back).text) == []


def test_unacknowledged_deliveries_are_sent_again(ann: httpx.Client, shop: httpx.Client) -> None:
    ann.put("/subscribers/ann/subscriptions/e", json={"selector": "e > 0"})
    shop.post("/events", json=[{"e": i} for i in (1, 2, 3)])
    stream = "/subscribers/ann/deliveries?ack=explicit&limit=3"
    first = matches(ann.get(stream).text)
    assert [each["event"]["e"] for each in first] == [1, 2, 3]
    words = [first[0]["word"], first[2]["word"]]
    assert ann.post("/subscribers/ann/acks", json={"ids": words}).json() == {"acknowledged": 2}
    again = matches(ann.get("/subscribers/ann/deliveries?ack=explicit&idle=4&limit=1").text)
    assert [each["event"]["e"] for each in again] == [2] and again[0]["redelivered"]
    ann.post("/subscribers/ann/acks", json={"ids": [again[0]["word"]]})
    assert matches(ann.get("/subscribers/ann/deliveries?idle=0.3").text) == []


def test_a_stream_sends_keep_alives_and_its_end(service: Service, ann: httpx.Client) -> None:
    with ann.stream("GET", "/subscribers/ann/deliveries") as answer:
        lines = answer.iter_lines()
        assert next(lines) == "retry: 1000"
        assert any(line == ": alive" for line in lines)
        with service.web("ann") as other:
            other.delete("/subscribers/ann")
        assert any(line == "event: gone" for line in lines)


def test_a_subscriber_has_few_streams(service: Service) -> None:
    # No other test removes this subscriber, which would end the streams.
    path = "/subscribers/kim/deliveries"
    with service.web("kim") as a, service.web("kim") as b, service.web("kim") as c:
        with a.stream("GET", path) as one, b.stream("GET", path) as two:
            # Kept: when the iterator of an answer is dropped, httpx hangs up.
            lines = one.iter_lines(), two.iter_lines()
            assert [next(each) for each in lines] == ["retry: 1000"] * 2
            refused = c.get(f"{path}?idle=3")  # it must not wait for ever, if it is not refused
            assert refused.status_code == 503 and "Retry-After" in refused.headers
    deadline = time.monotonic() + 5
    while service.broker is not None and time.monotonic() < deadline:
        with service.web("kim") as c:
            if c.get(f"{path}?idle=0.1").status_code == 200:
                return
        time.sleep(0.1)
    pytest.fail("the streams that were closed still count")


def test_explain_says_what_is_missing(ann: httpx.Client) -> None:
    ann.put("/subscribers/ann/subscriptions/x", json={"selector": "a = 1 AND b > 2"})
    told = ann.post("/subscribers/ann/explain", json={"id": "x", "event": {"a": 1, "b": 0}}).json()
    assert told["matches"] is False and told["missing"][0]["predicate"] == "b > 2"
    told = ann.post("/explain", json={"selector": "a = 1", "event": {"a": 1}}).json()
    assert told["matches"] is True
    assert ann.post("/explain", json={"selector": "a =", "event": {}}).status_code == 422
    none = ann.post("/subscribers/ann/explain", json={"id": "none", "event": {}})
    assert none.status_code == 404


def test_lint_reports_findings(ann: httpx.Client) -> None:
    pytest.importorskip("dd")
    rows = [{"id": "dead", "selector": "x < 5 AND x > 9"}, {"id": "b", "selector": "x > 1"}]
    found = ann.post("/lint", json={"subscriptions": rows}).json()["findings"]
    assert [(each["rule"], each["id"]) for each in found] == [("never-matches", "dead")]
    ann.post("/subscribers/ann/subscriptions", json={"subscriptions": rows})
    assert ann.get("/subscribers/ann/lint").json()["findings"] == found
    many = [{"selector": f"x = {i}"} for i in range(51)]
    assert ann.post("/lint", json={"subscriptions": many}).status_code == 413


def test_metrics_count_events_and_need_their_role(
    service: Service, ann: httpx.Client, shop: httpx.Client
) -> None:
    ann.put("/subscribers/ann/subscriptions/x", json={"selector": "counted = TRUE"})
    shop.post("/events", json={"counted": True})
    ann.get("/subscribers/ann/deliveries?limit=1")
    time.sleep(0.2)
    with service.web("meter") as meter:
        answer = meter.get("/metrics")
        assert meter.get("/subscribers/ann/subscriptions").status_code == 403
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    figures = dict(
        line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#")
    )
    assert float(figures["tamis_events_total"]) >= 1
    assert float(figures["tamis_deliveries_total"]) >= 1
    assert float(figures["tamis_subscriptions"]) >= 1
    assert figures["tamis_events_waiting"] == "0"
    assert figures['tamis_deliveries_unread{subscriber="ann"}'] == "0"
    assert float(figures["tamis_latency_seconds_count"]) >= 1
    assert (
        figures['tamis_latency_seconds_bucket{le="+Inf"}']
        == (figures["tamis_latency_seconds_count"])
    )
    assert ann.get("/metrics").status_code == 403


def test_the_description_has_every_endpoint(service: Service) -> None:
    with service.web(None) as nobody:
        told = nobody.get("/openapi.json").json()
        assert nobody.get("/healthz").json() == {"status": "ok"}
    described = {(m.upper(), path) for path, of in told["paths"].items() for m in of}
    assert described == {(each.method, each.path) for each in ENDPOINTS}
    names = [of["operationId"] for path in told["paths"].values() for of in path.values()]
    assert len(set(names)) == len(names)

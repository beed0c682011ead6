"""kill -9 at random times: acknowledged calls survive, and at most one call more."""

import json
import random
from pathlib import Path

import tamis
from tests.engines.oracle import matching
from tests.process_kills import Killed
from tests.soak import count, record
from tests.storage.index.crasher import event

KILLS = count(5, 200)

Model = dict[object, str]


def test_acknowledged_calls_survive_a_kill(tmp_path: Path) -> None:
    rng = random.Random(20240612)
    path = tmp_path / "index"
    tamis.Matcher(engine="block").save(path)
    model: Model = {}
    calls = versions = 0
    with Killed("tests.storage.index.crasher") as killed:
        for kill in range(KILLS):
            before = version(path)
            seconds, seed, sync = rng.uniform(0, 0.4), rng.getrandbits(32), kill % 4 == 3
            lines = list(map(json.loads, killed.after(seconds, str(path), seed, sync)))
            model = checked(path, followed(model, lines), rng)
            calls += sum(isinstance(line, int) for line in lines)
            versions += version(path) - before
    assert calls > KILLS and versions > KILLS
    record("saved-kills", kills=KILLS, calls=calls, versions=versions)


def followed(model: Model, lines: list[object]) -> tuple[Model, Model]:
    """Return the state after all calls that returned, and with the last call as well."""
    sure, perhaps = dict(model), dict(model)
    for line in lines:
        if isinstance(line, int):
            sure = dict(perhaps)
        else:
            assert perhaps == sure and isinstance(line, list)
            for id, text in line:
                perhaps.pop(id, None)
                if text is not None:
                    perhaps[id] = text
    return sure, perhaps


def checked(path: Path, made: tuple[Model, Model], rng: random.Random) -> Model:
    """Check what the kill left, twice: a reader repairs nothing, a writer does."""
    batch = [event(rng) for _ in range(20)]
    for read_only in (True, False):
        with tamis.Matcher.open(path, read_only=read_only) as matcher:
            model: Model = {id: matcher[id].text for id in matcher}
            assert model in made
            found = [set(ids) for ids in matcher.match_batch(batch).per_event()]
            assert found == [matching(model, one) for one in batch]
    return model


def version(path: Path) -> int:
    journal = tamis.Matcher.open(path, read_only=True)._journal
    assert journal is not None
    return journal._store.version

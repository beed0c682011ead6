"""A process that changes a saved matcher until it is killed, saying what it asks and what is done.

Each line is JSON: a list of changes, [id, selector] or [id, null], which is about to be made in one
call; or the number of calls that have returned. Now and then it matches: the engine then lays out
segments anew, merges them, and checkpoints follow.
"""

import itertools
import json
import random

import tamis
from tests.process_kills import START, say, serve
from tests.storage.index.small_limits import make_small

IDS = [f"s{number}" for number in range(120)]


def work(path: str, seed: int, sync: bool) -> None:
    rng = random.Random(seed)
    matcher = tamis.Matcher.open(path, sync=sync)
    say(START)
    for number in itertools.count(1):
        changes = next_changes(matcher, rng)
        say(json.dumps(changes))
        make(matcher, changes)
        say(json.dumps(number))
        if rng.random() < 0.05:
            matcher.match_batch([event(rng) for _ in range(70)])


def warm_up() -> None:
    """Load all kernels."""
    rng = random.Random(0)
    matcher = tamis.Matcher(engine="block")
    for _ in range(2):
        matcher.add_many((id, selector(rng)) for id in IDS)
        matcher.match_batch([event(rng) for _ in range(70)])
        matcher._engine.gather()  # type: ignore[attr-defined]
        for id in IDS:
            matcher.remove(id)


def next_changes(matcher: tamis.Matcher, rng: random.Random) -> list[tuple[str, str | None]]:
    id = rng.choice(IDS)
    if id in matcher and rng.random() < 0.5:
        return [(id, None)]
    if rng.random() < 0.9:
        return [(id, selector(rng))]
    absent = [id for id in IDS if id not in matcher]
    return [(id, selector(rng)) for id in rng.sample(absent, min(len(absent), 12))]


def make(matcher: tamis.Matcher, changes: list[tuple[str, str | None]]) -> None:
    if len(changes) != 1:
        matcher.add_many(changes)  # type: ignore[arg-type]
        return
    ((id, text),) = changes
    if text is None:
        matcher.remove(id)
    elif id in matcher:
        matcher.replace(id, text)
    else:
        matcher.add(id, text)


def selector(rng: random.Random) -> str:
    tests = [
        f"a = {rng.randrange(5)}",
        f"b > {rng.randrange(50)}",
        f"s LIKE '%{rng.randrange(9)}'",
        f"a + b < {rng.randrange(50)}",
        "c IS NULL",
    ]
    return rng.choice([" AND ", " OR "]).join(rng.sample(tests, rng.randint(1, 3)))


def event(rng: random.Random) -> dict[str, object]:
    whole = {"a": rng.randrange(5), "b": rng.randrange(60), "s": str(rng.randrange(99)), "c": 1}
    return {name: value for name, value in whole.items() if rng.random() < 0.8}


if __name__ == "__main__":
    make_small()
    warm_up()
    serve(work)

"""Many pairs of a selector and an event, in every way through the engine, against the oracle."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from tamis_lab.workloads import atree2004, bdd2001, bloom2008
from tamis_lab.workloads.nulls import SparseWorkload
from tamis_lab.workloads.selective import SelectiveWorkload
from tamis_lab.workloads.texts import Requests

import tamis
from tests.engines.block.oracle_comparison import compared, engine_of, filled
from tests.engines.block.random_cases import FUNCTIONS, SCHEMA, drawn_events, drawn_selectors
from tests.engines.block.ways import WAYS, WITHOUT, forced, rows_noted, segments, taken
from tests.soak import SOAK, count, record

PAIRS = count(16_000, 5_000_000)
SEMANTICS = ["sql", "strict", "default", "total"]
# Around a word of a mask, a block, a piece of a batch for a thread, and several blocks.
SIZES = [1, 63, 64, 65, 511, 512, 513, 1600, 2047, 2048, 2049, 4096, 4700]
FILLED = [0.08, 0.5, 0.9, 1.0]


def matcher_of(semantics: str, **options: object) -> tamis.Matcher:
    schema = SCHEMA if semantics in ("default", "total") else None
    return tamis.Matcher(
        engine="block", functions=FUNCTIONS, semantics=semantics, schema=schema, **options
    )


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("way", WAYS)
def test_random_selectors_match_as_the_oracle(way: str, semantics: str) -> None:
    """Thousands of selectors or thousands of events; both, and more of them, in a soak."""
    draw = random.Random(f"{way} {semantics}")
    share, pairs, rounds = PAIRS // (len(WAYS) * len(SEMANTICS)), 0, 0
    while pairs < share:
        many = rounds % 4 == 3
        sealed = draw.choice([100, 1000, 4096])
        quiet, chunk = draw.choice([1000, 1 << 17]), draw.choice([192, 576, 1 << 16])
        with forced(way, _SEALED=sealed, _QUIET=quiet, _CHUNK=chunk):
            matcher = filled(matcher_of(semantics), drawn_selectors(draw, 5000 if many else 70))
            for _ in range(2):
                events = drawn_events(
                    draw, draw.choice(SIZES), 1 if semantics == "total" else draw.choice(FILLED)
                )
                if draw.random() < 0.5:
                    engine_of(matcher).settle()
                for segment in segments(engine_of(matcher)):
                    segment.block_size = draw.choice([512, 1024, 2048, 4096])
                pairs += compared(matcher, events, draw, 20)
            engine_of(matcher).settle()
            found = taken(engine_of(matcher))
        assert not any(found[name] for name in WITHOUT[way]), found
        rounds += 1
    record(f"block-{way}-{semantics}", pairs=pairs)


def test_a_large_random_set_takes_every_way() -> None:
    """Otherwise the test above would cover less than it claims."""
    draw = random.Random(1)
    with forced("planned", _SEALED=400), rows_noted() as rows:
        matcher = filled(matcher_of("sql"), drawn_selectors(draw, 900))
        engine = engine_of(matcher)
        pairs = compared(matcher, drawn_events(draw, 70), draw, 2)
        assert len(segments(engine)) > 1
        engine.settle()
        for share in (0.08, 0.9):
            pairs += compared(matcher, drawn_events(draw, 700, share), draw, 2)
        found = taken(engine)
    assert rows["dense"] and rows["sparse"]
    for way in ("narrow", "general", "flat", "tree", "never", "sets", "predicates"):
        assert found[way], found
    assert found["levels"] > 5 and found["informed"], found


@pytest.mark.parametrize("way", WAYS)
def test_a_limit_keeps_the_first_of_all_matches(way: str) -> None:
    draw = random.Random(way)
    with forced(way):
        matcher = filled(matcher_of("sql"), drawn_selectors(draw, 120))
        events = drawn_events(draw, 1100)
        every = matcher.match_batch(events).per_event()
        for limit in (0, 1, 4, 1000):
            best = matcher.match_batch(events, limit=limit)
            assert best.per_event() == [ids[:limit] for ids in every]
    assert max(map(len, every)) > 8


def test_sliced_arrow_columns_match_as_the_oracle() -> None:
    """Slices begin in the middle of a byte of validity, and of a chunk."""
    draw = random.Random(8)
    events = [{k: v for k, v in e.items() if k != "m"} for e in drawn_events(draw, 400, 0.7)]
    table = pa.Table.from_pylist(
        events, pa.Table.from_pylist(drawn_events(draw, 60, 1)[:1]).drop("m").schema
    )
    table = pa.concat_tables([table.slice(3, 90), table.slice(101, 250)])
    matcher = filled(matcher_of("sql"), drawn_selectors(draw, 120))
    for begin, size in ((0, 340), (1, 64), (5, 200), (90, 100), (13, 1)):
        compared(matcher, table.slice(begin, size), draw, 10)


MIXTURE = [
    SelectiveWorkload(subscriptions=1000),
    SparseWorkload(subscriptions=1000),
    Requests(subscriptions=1000),
    bdd2001.Workload(subscriptions=1000),
    bloom2008.Workload(subscriptions=1000, names=50),
    atree2004.Workload(
        subscriptions=1000, predicates=6, shared_predicates=3, operators="mixed", relation=">"
    ),
]


@pytest.mark.parametrize("way", WAYS if SOAK else ["planned", "blocks"])
def test_all_workloads_in_one_matcher_match_as_the_oracle(way: str) -> None:
    """The selectors of all workloads in one matcher; an event of one, or of two at once."""
    draw = random.Random(way)
    selectors = [text for workload in MIXTURE for text in workload.selectors()]
    draw.shuffle(selectors)
    rows = [row for workload in MIXTURE for row in workload.events(200).rows()]
    draw.shuffle(rows)
    rows[::3] = [{**a, **b} for a, b in zip(rows[::3], rows[1::3], strict=False)][: len(rows[::3])]
    pairs, few = 0, count(2, 30)
    with forced(way, _SEALED=2000):
        matcher = filled(tamis.Matcher(engine="block"), selectors)
        pairs += compared(matcher, rows[:100], draw, few)
        engine_of(matcher).settle()
        pairs += compared(matcher, rows, draw, few)
        found = taken(engine_of(matcher))
    assert len(matcher) == 6000
    assert not any(found[name] for name in WITHOUT[way]), found
    record(f"block-workloads-{way}", pairs=pairs)

"""A matcher survives saving and opening."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tamis
from tamis import errors
from tamis.engines.block.draft import draft
from tamis.kernels.block import masks, match, ranks
from tamis.values import Timestamp
from tests.engines.oracle import matching
from tests.strategies import FUNCTIONS, bool_exprs, events

OPEN = tamis.Schema({"a": ("INT", 1), "b": ("STR", "x"), "user.city": ("STR", "Lyon")}, open=True)


def reopened(matcher: tamis.Matcher, folder: Path, **arguments: object) -> tamis.Matcher:
    matcher.save(folder / "index")
    again = tamis.Matcher.open(folder / "index", **arguments)  # type: ignore[arg-type]
    again.close()
    shutil.rmtree(folder)
    return again


def add_all(matcher: tamis.Matcher, exprs: list[object]) -> dict[object, str]:
    added: dict[object, str] = {}
    for number, expr in enumerate(exprs):
        try:
            matcher.add(f"s{number}", str(expr), number % 3)
        except errors.SelectorTypeError:
            continue  # it does not pass the schema's type check
        added[f"s{number}"] = str(expr)
    return added


@pytest.mark.parametrize("semantics", ["sql", "strict", "default"])
@given(
    exprs=st.lists(bool_exprs(), max_size=12),
    gone=st.sets(st.integers(0, 11)),
    batch=st.lists(events(), max_size=4),
)
def test_every_selector_survives(tmp_path_factory, semantics, exprs, gone, batch) -> None:
    schema = OPEN if semantics == "default" else None
    if schema is not None:
        batch = [{name: event[name] for name in "cd" if name in event} for event in batch]
    matcher = tamis.Matcher(schema, semantics, "block")
    model = add_all(matcher, exprs)
    for id in [f"s{number}" for number in gone if f"s{number}" in model]:
        matcher.remove(id)
        del model[id]
    again = reopened(matcher, tmp_path_factory.mktemp("saved"))
    assert (again.schema, again.semantics, again.engine) == (schema, semantics, "block")
    assert list(again) == list(matcher)
    assert [(again[id].text, again[id].priority) for id in again] == [
        (matcher[id].text, matcher[id].priority) for id in matcher
    ]
    found = again.match_batch(batch)
    assert found == matcher.match_batch(batch)
    assert [set(ids) for ids in found.per_event()] == [
        matching(model, event, semantics, schema) for event in batch
    ]


def test_total_semantics_survive(tmp_path) -> None:
    matcher = tamis.Matcher({"a": "INT", "b": "STR"}, "total", "block")
    matcher.add("s", "a = 1 OR b = 'x'")
    again = reopened(matcher, tmp_path / "folder")
    assert again.match({"a": 1, "b": "y"}) == ["s"]
    with pytest.raises(errors.EventError):
        again.match({"a": 1})


@given(
    exprs=st.lists(bool_exprs(functions=True), min_size=1, max_size=12),
    batch=st.lists(events(), max_size=4),
)
def test_functions_are_called_after_opening(tmp_path_factory, exprs, batch) -> None:
    matcher = tamis.Matcher(engine="block", functions=FUNCTIONS)
    add_all(matcher, exprs)
    again = reopened(matcher, tmp_path_factory.mktemp("saved"), functions=FUNCTIONS)
    assert again.match_batch(batch) == matcher.match_batch(batch)


def test_functions_must_be_passed_again(tmp_path) -> None:
    tamis.Matcher(engine="block", functions=FUNCTIONS).save(tmp_path / "index")
    with pytest.raises(errors.InputError, match=r"may call size, Turned, alike: open it with"):
        tamis.Matcher.open(tmp_path / "index")
    with pytest.raises(errors.InputError, match=r"may call alike:"):
        tamis.Matcher.open(tmp_path / "index", {"SIZE": len, "turned": len})
    with tamis.Matcher.open(tmp_path / "index", FUNCTIONS) as matcher:  # the lock was released
        assert len(matcher) == 0


DEFAULTS = {
    "i": ("INT", 2**63 - 1),
    "x": ("DBL", float("inf")),
    "n": ("DBL", float("nan")),
    "whole": ("DBL", 1e300),
    "s": ("STR", "é"),
    "t": ("TIMESTAMP", "2024-05-01 08:00:00.000001"),
    "odd.`odd name`": ("BOOL", True),
    "tags": ("ARRAY<STR>", ["a", "b"]),
    "none": "INT",
}


@pytest.mark.parametrize("is_open", [False, True])
def test_schemas_survive(tmp_path, is_open) -> None:
    schema = tamis.Schema(DEFAULTS, open=is_open)
    again = reopened(tamis.Matcher(schema, "default", "block"), tmp_path / "folder")
    assert repr(again.schema) == repr(schema)  # NaN is not equal to itself
    assert isinstance(again.schema.defaults[("t",)], Timestamp)


@pytest.mark.parametrize("ids", [range(-9, 9), [f"é{i}" for i in range(18)]])
def test_ids_and_options_survive(tmp_path, ids) -> None:
    matcher = tamis.Matcher(engine="block", threads=2)
    matcher.add_many((id, f"a = {number % 3}", number) for number, id in enumerate(ids))
    again = reopened(matcher, tmp_path / "folder", threads=3)
    assert again._engine.threads == 3
    assert list(again) == list(ids)
    assert again.match({"a": 1}) == matcher.match({"a": 1})
    again = reopened(again, tmp_path / "folder")
    assert again._engine.threads == 3
    with pytest.raises(errors.InputError):  # closed
        again.add(ids[0], "a = 1")


def test_selectors_evaluated_by_the_oracle_survive(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(draft, "MOST_WORDS", 3)
    matcher = tamis.Matcher(engine="block")
    matcher.add_many([("long", "a = 1 XOR (b = 2 XOR c = 3)", 7), ("short", "a = 1")])
    assert matcher.stats()["oracle"] == 1
    again = reopened(matcher, tmp_path / "folder")
    assert again.match({"a": 1, "b": 1, "c": 1}) == ["long", "short"]
    assert again["long"].priority == 7


KERNELS = [
    match.match_rows,
    masks.match_blocks,
    ranks.rank_texts,
    ranks.rank_densely,
    ranks.rank_sparsely,
]


def test_mapped_arrays_compile_no_kernels(tmp_path) -> None:
    matcher = tamis.Matcher(engine="block")
    matcher.add_many((i, f"a = {i} AND s >= 'x{i}' OR c LIKE '%{i}%'") for i in range(30))
    matcher.add_many((i, f"a > {i} AND s < 'x'") for i in range(30, 60))
    batch = [{"a": i, "s": f"x{i}", "c": "7"} for i in range(100)] + [{"s": "y"}]
    matcher._engine.gather()
    expected = matcher.match_batch(batch)
    matcher._engine.settle()
    before = [len(kernel.signatures) for kernel in KERNELS]
    matcher.save(tmp_path / "index")
    with tamis.Matcher.open(tmp_path / "index") as again:
        assert again.match_batch(batch) == expected
        again.remove(3)
        again.add(99, "a = 1")
        again._engine.gather()  # unpacked from mapped segments, and placed again
        assert len(again.match_batch(batch)) > 0
    assert [len(kernel.signatures) for kernel in KERNELS] == before
    assert sum(before) > 0


def test_matching_does_not_change_the_files(tmp_path) -> None:
    matcher = tamis.Matcher(engine="block")
    matcher.add_many((i, f"a = {i}") for i in range(40))
    matcher.save(tmp_path / "index")
    files = sorted((tmp_path / "index").rglob("arrays"))
    before = [file.read_bytes() for file in files]
    again = tamis.Matcher.open(tmp_path / "index", read_only=True)
    again._engine.remove(5)  # not through the facade, which refuses
    assert again.match({"a": 5}) == []
    assert [file.read_bytes() for file in files] == before

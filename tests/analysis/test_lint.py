"""Findings about sets of subscriptions."""

from random import Random

import pytest

from tamis.analysis import RULES, Finding, lint
from tamis.errors import InputError, SchemaError
from tamis.language import evaluate, parse
from tamis.schema import Schema
from tests.engines.oracle import matching


def by_id(*selectors: str, **options: object) -> dict[int, list[Finding]]:
    found: dict[int, list[Finding]] = {}
    for finding in lint(list(enumerate(selectors)), **options):
        found.setdefault(finding.id, []).append(finding)
    return found


def rules(*selectors: str, **options: object) -> dict[int, list[str]]:
    return {id: [f.rule for f in found] for id, found in by_id(*selectors, **options).items()}


def spanned(finding: Finding) -> list[str]:
    return [finding.text[start:end] for start, end in finding.spans]


def test_a_good_set_has_no_findings() -> None:
    assert lint([("a", "x > 1"), ("b", "y = 2 AND z"), ("c", "x < 0 OR y = 3", 7)]) == []
    assert lint([]) == []


def test_selectors_that_never_match_show_the_conflicting_parts() -> None:
    (found,) = lint([("a", "y = 1 AND x < 5 AND z AND x > 9")])
    assert (found.rule, found.level, found.event) == ("never-matches", "error", None)
    assert spanned(found) == ["x < 5", "x > 9"] and found.proof
    (found,) = lint([("a", "x NOT IN (1, NULL)")])
    assert spanned(found) == ["x NOT IN (1, NULL)"]


def test_selectors_that_always_match_are_not_reported_as_covers() -> None:
    assert rules("x IS NULL OR x IS NOT NULL", "y = 1") == {0: ["always-matches"]}


def test_a_covered_selector_names_the_chain_of_covers() -> None:
    found = by_id("x > 1", "x > 5 AND y = 1", "x > 3", "y = 2")
    assert {id: f[0].others for id, f in found.items()} == {1: (2, 0), 2: (0,)}
    assert "1 ⊂ 2 ⊂ 0" in found[1][0].message
    event = found[1][0].event
    assert evaluate(parse("x > 3"), event) and not evaluate(parse("x > 5 AND y = 1"), event)


def test_equivalent_selectors_name_the_first() -> None:
    found = by_id("x > 5", "NOT x <= 5", "x > 5", "5 < x AND x <> 5", "x > 2")
    assert {id: f[-1].others for id, f in found.items() if f[-1].rule == "equivalent"} == {
        1: (0,), 2: (0,), 3: (0,),
    }  # fmt: skip
    assert [f.rule for f in found[0]] == ["covered"]
    assert found[3][0].rule == "redundant" and found[3][0].suggestion == "5 < x"


def test_a_repeated_text_has_the_same_findings() -> None:
    found = by_id("x < 1 AND x > 2", "x < 1 AND x > 2", "a = 1 AND a = 1", "a = 1 AND a = 1")
    assert [f.rule for f in found[1]] == ["never-matches"]
    assert [f.rule for f in found[3]] == ["redundant", "equivalent"]


def test_redundant_parts_are_found() -> None:
    (found,) = lint([("a", "x > 5 AND (x > 3 OR y = 1) AND z")])
    assert spanned(found) == ["x > 3 OR y = 1"]
    assert found.suggestion == "x > 5 AND z"


def test_bad_selectors_and_ids_are_findings() -> None:
    found = lint([("a", "x =="), ("b", "x = 1"), ("b", "x = 2")])
    assert [(f.rule, f.id) for f in found] == [("bad-selector", "a"), ("duplicate-id", "b")]
    assert spanned(found[0]) == ["="]
    (found,) = lint([("a", "prise > 1")], schema={"price": "INT"})
    assert spanned(found) == ["prise"] and "did you mean" in found.message


def test_sequences_are_checked_step_by_step() -> None:
    found = by_id(
        "FIRST a = 1 AND a = 2 THEN b",
        "FIRST a = 1 THEN x > 5 AND x > 3 PER host",
        "first a = 1 then 3 < x and x > 5 per host",
        "FIRST a = 1 THEN TRUE",
    )
    assert {id: [f.rule for f in each] for id, each in found.items()} == {
        0: ["never-matches"], 1: ["redundant"], 2: ["redundant"],
    } or found[2][-1].rule == "equivalent"  # fmt: skip
    assert spanned(found[0][0]) == ["a = 1", "a = 2"]


def test_undecided_questions_are_reported() -> None:
    found = by_id("s RLIKE '^x' AND s LIKE 'y%'")
    assert [f.rule for f in found[0]] == ["undecided"]
    assert rules("s RLIKE '^xa' AND s IS NOT NULL", "s RLIKE '^x'")[0][-1] == "undecided"


@pytest.mark.parametrize("semantics", ["sql", "strict", "default", "total"])
def test_findings_depend_on_the_semantics(semantics: str) -> None:
    schema = {"x": ("INT", 1), "y": ("BOOL", False)}
    found = rules("x < 5 OR x >= 5", "y IS NULL", schema=schema, semantics=semantics)
    assert found == {
        "sql": {}, "strict": {1: ["never-matches"]},
        "default": {0: ["always-matches"], 1: ["never-matches"]},
        "total": {0: ["always-matches"], 1: ["never-matches"]},
    }[semantics]  # fmt: skip


def test_functions_are_accepted_and_not_called() -> None:
    def never(value: object) -> object:
        raise AssertionError("called")

    found = lint([("a", "never(x) > 1 AND y = 1"), ("b", "y = 1")], functions={"never": never})
    assert [f.rule for f in found] == ["undecided"]


def test_invalid_rows_are_refused() -> None:
    with pytest.raises(InputError, match="tuple"):
        lint(["x > 1"])
    with pytest.raises(SchemaError):
        lint([("a", "x")], semantics="total")


def test_every_cover_among_many_is_found() -> None:
    """The index misses no cover: compare with all pairs, by their bounds."""
    random = Random(5)
    bounds = [
        {name: sorted(random.sample(range(30), 2)) for name in random.sample("abcd", 2)}
        for _ in range(300)
    ]
    texts = [
        " AND ".join(f"{name} BETWEEN {low} AND {high}" for name, (low, high) in each.items())
        for each in bounds
    ]

    def covers(outer: dict, inner: dict) -> bool:
        return all(
            name in inner and low <= inner[name][0] and inner[name][1] <= high
            for name, (low, high) in outer.items()
        )

    found = by_id(*texts)
    for number, inner in enumerate(bounds):
        by = {n for n, outer in enumerate(bounds) if n != number and covers(outer, inner)}
        earlier = {n for n in by if bounds[n] == inner and n < number}
        strict = {n for n in by if bounds[n] != inner}
        said = found.get(number, [])
        if earlier:
            assert [f.rule for f in said] == ["equivalent"] and said[0].others[0] in earlier
        elif strict:
            assert [f.rule for f in said] == ["covered"] and set(said[0].others) <= strict
        else:
            assert said == []


def test_progress_is_reported() -> None:
    stages: list[str] = []
    lint([("a", "x > 1"), ("b", "x > 2")], progress=lambda stage, done, part: stages.append(stage))
    assert list(dict.fromkeys(stages)) == ["reading", "indexing", "comparing", "proving"]


def test_findings_convert_to_json() -> None:
    (found,) = lint([("a", "t > TIMESTAMP '2024-01-01' AND t > DATE '2023-01-01'")])
    fields = found.to_dict()
    assert fields["ids"] == ["a"] and fields["rule"] == "redundant" and found.rule in RULES
    assert fields["event"] == {"t": "2024-01-02 00:00:00Z"}


def test_an_event_has_the_defaults_that_would_be_filled_in() -> None:
    """Without s in the event, its default would make it match the covered one too."""
    schema = {"b": "BOOL", "s": ("STR", "ab")}
    rows = [("outer", "b"), ("inner", "b AND s LIKE '%b'")]
    (found,) = lint(rows, schema=schema, semantics="default")
    assert (found.rule, found.id) == ("covered", "inner")
    assert matching(dict(rows), found.event, "default", Schema(schema)) == {"outer"}

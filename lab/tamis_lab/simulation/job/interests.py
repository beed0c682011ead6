"""The different interests of all subscribers, split into conjunctions of numbered predicates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tamis.bloom.hashing import Keys, Shape
from tamis.bloom.poset_predicate import StoredPredicate, canonical_text
from tamis.engines.subscription import Subscription
from tamis.routing.interest import Interest
from tamis_lab.kernels.false_claims import Conjunctions

_ANY_SHAPE = Shape(1, 1)  # keys do not depend on it


class SplitSelector(NamedTuple):
    """A selector, split into conjunctions.

    Attributes:
        text: The interest, as brokers send it.
        void: Whether no event satisfies it.
        parts: Its conjunctions, as texts of predicates; an empty one matches every filter.
        keys: The same, as the keys that filters are built from.
    """

    text: str
    void: bool
    parts: list[list[str]]
    keys: list[list[int]]


def split_selector(selector: str) -> SplitSelector:
    """Split a selector.

    >>> split_selector("a = 1 AND b > 2").parts
    [['a = 1', 'b > 2']]

    Raises:
        SelectorError: It is invalid.
    """
    interest = Interest.of(Subscription.of(0, selector))
    found = [()] if interest.conjunctions is None else interest.conjunctions
    held = [
        [StoredPredicate(leaf, canonical_text(leaf), _ANY_SHAPE) for leaf in part] for part in found
    ]
    return SplitSelector(
        interest.text,
        not interest.coverage.filters,
        [[each.text for each in part] for part in held],
        [[each.key for each in part] for part in held],
    )


class Interests(NamedTuple):
    """All interests, by number.

    Attributes:
        texts: As brokers send them, sorted.
        predicates: The different predicates, sorted.
        keys: The keys of the predicates.
        parts: The conjunctions.
        bytes: The size of each interest's text.
        void: Whether no event satisfies an interest.
    """

    texts: list[str]
    predicates: list[str]
    keys: Keys
    parts: Conjunctions
    bytes: npt.NDArray[np.int32]
    void: npt.NDArray[np.bool_]


def number_interests(found: Iterable[SplitSelector]) -> Interests:
    """Number interests and predicates; of several with the same text, the first is used."""
    by_text: dict[str, SplitSelector] = {}
    for each in found:
        by_text.setdefault(each.text, each)
    texts = sorted(by_text)
    keys = {
        text: key
        for each in by_text.values()
        for part, part_keys in zip(each.parts, each.keys, strict=True)
        for text, key in zip(part, part_keys, strict=True)
    }
    predicates = sorted(keys)
    numbers = {text: number for number, text in enumerate(predicates)}
    parts = [
        (number, [numbers[predicate] for predicate in part])
        for number, text in enumerate(texts)
        for part in by_text[text].parts
    ]
    return Interests(
        texts,
        predicates,
        np.array([keys[text] for text in predicates], np.uint64),
        _parts(parts, len(predicates), len(texts)),
        np.array([len(text.encode()) for text in texts], np.int32),
        np.array([by_text[text].void for text in texts], np.bool_),
    )


def _parts(parts: Sequence[tuple[int, list[int]]], predicates: int, interests: int) -> Conjunctions:
    start = starts(len(part) for _, part in parts)
    predicate = np.array([each for _, part in parts for each in part], np.int32)
    part = np.repeat(np.arange(len(parts), dtype=np.int32), np.diff(start))
    order = np.argsort(predicate, kind="stable")
    interest = np.array([interest for interest, _ in parts], np.int32)
    return Conjunctions(
        start,
        predicate,
        interest,
        starts(np.bincount(predicate, minlength=predicates).tolist()),
        part[order],
        np.flatnonzero(np.diff(start) == 0).astype(np.int32),
        starts(np.bincount(interest, minlength=interests).tolist()),
    )


def starts(lengths: Iterable[int]) -> npt.NDArray[np.int64]:
    """Return where consecutive lists of these lengths start, and where the last one ends."""
    return np.array([0, *accumulate(lengths)], np.int64)


def subscriptions_of(interests: Interests) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Return ids and selectors to match: those of interests, then those of predicates."""
    texts: list[Any] = [*interests.texts, *interests.predicates]
    return np.arange(len(texts), dtype=np.int64), texts

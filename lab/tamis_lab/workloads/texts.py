"""Requests for articles: titles of many words, paths, agents; and subscriptions to parts of them.

This workload is from no paper: most published workloads have numbers only. The words are
pseudo-words (see `words`), some far more frequent than others, as in any language.

>>> workload = Requests(subscriptions=1000)
>>> next(workload.selectors())
"country = 'MX' AND contains(title, 'zotchu')"
>>> workload.events(2).rows()[0]["country"]
'DE'
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tamis.events.batch import EventBatch
from tamis_lab.workloads.pronounceable import words
from tamis_lab.workloads.random_draws import (
    Arrays,
    check,
    check_counts,
    draw_in_blocks,
    events_in_blocks,
    places,
)

SHORTEST, LONGEST = 8, 20  # words of a title
PAGES = 10_000
COUNTRIES = (
    "US CN IN DE JP GB BR FR RU IT KR ES CA MX ID TR NL PL AU SA VN TH AR EG ZA CO UA BE SE CH AT "
    "NO DK FI PT GR CZ RO HU IE NZ SG MY PH PK BD NG KE MA IL AE CL PE VE EC BG HR SK SI EE"
).split()
_SYSTEMS = ("Windows NT 10.0", "X11; Linux x86_64", "Macintosh", "Android 14", "iPhone", "iPad")
_BROWSERS = tuple(
    f"{name}/{version}"
    for name in ("Chrome", "Firefox", "Safari", "Edge", "Opera")
    for version in range(100, 130)
)
AGENTS = tuple(f"Mozilla/5.0 ({system}) {browser}" for system in _SYSTEMS for browser in _BROWSERS)


class TextForm(NamedTuple):
    """A form of selectors; `{v}` and `{w}` stand for words, and so on."""

    share: float
    text: str


FORMS = (
    TextForm(0.25, "contains(title, '{v}')"),
    TextForm(0.15, "title LIKE '%{v}%'"),
    TextForm(0.05, "title LIKE '%{v} {w}%'"),
    TextForm(0.05, "title LIKE '{v}%'"),
    TextForm(0.10, "startswith(path, '/{v}/')"),
    TextForm(0.05, "path LIKE '/{v}/{w}/%'"),
    TextForm(0.05, "endswith(path, '/{page}.html')"),
    TextForm(0.05, "agent = '{agent}'"),
    TextForm(0.10, "country = '{country}' AND contains(title, '{v}')"),
    TextForm(0.05, "contains(title, '{v}') OR startswith(path, '/{w}/')"),
    TextForm(0.05, "contains(title, '{v}') AND NOT contains(title, '{w}')"),
    TextForm(0.05, "country = '{country}' AND agent LIKE '%{browser}' AND path LIKE '/{v}%'"),
)


@dataclass(frozen=True, kw_only=True)
class Requests:
    """Subscriptions to words of titles and paths, to countries and to agents.

    Attributes:
        subscriptions: Number of subscriptions.
        vocabulary: Number of words. In events the n-th word is n times rarer than the first; in
            subscriptions all words are equally likely.
        seed: The same seed gives the same workload.
    """

    subscriptions: int
    vocabulary: int = 20_000
    seed: int = 2027

    def __post_init__(self) -> None:
        """Check the parameters.

        Raises:
            InputError: A parameter is out of range.
        """
        check_counts(self.subscriptions, self.seed)
        check(self.vocabulary >= 1, "vocabulary", "1 or more")

    def selectors(self, start: int = 0, count: int | None = None) -> Iterator[str]:
        """Yield `count` subscriptions from `start` on as text, or all."""
        return draw_in_blocks(self.seed, self.subscriptions, self._drawn_selectors, start, count)

    def events(self, count: int, start: int = 0) -> EventBatch:
        """Return `count` requests from `start` on, assembled by Arrow."""
        title, length, path, page, country, agent = events_in_blocks(
            self.seed, count, self._drawn_events, start=start
        )
        known = pa.array(self.words)
        first, second = (known.take(pa.array(column)) for column in path.T)
        columns = {
            "title": _join_words(known, title, length),
            "path": pc.binary_join_element_wise(
                "", first, second, pc.binary_join_element_wise(_numbers(page), "html", "."), "/"
            ),
            "country": pa.array(COUNTRIES).take(pa.array(country)),
            "agent": pa.array(AGENTS).take(pa.array(agent)),
        }
        return EventBatch.from_arrow(pa.table(columns))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The vocabulary, the most frequent first."""
        return words(self.vocabulary, self.seed)

    def _drawn_selectors(self, rng: np.random.Generator, count: int) -> Iterator[str]:
        forms = places([form.share for form in FORMS], rng.random(count)).tolist()
        limits = (
            len(self.words),
            len(self.words),
            PAGES,
            len(COUNTRIES),
            len(AGENTS),
            len(_BROWSERS),
        )
        picks = zip(*(rng.integers(limit, size=count).tolist() for limit in limits), strict=True)
        for form, (v, w, page, country, agent, browser) in zip(forms, picks, strict=True):
            yield FORMS[form].text.format(
                v=self.words[v],
                w=self.words[w],
                page=page,
                country=COUNTRIES[country],
                agent=AGENTS[agent],
                browser=_BROWSERS[browser],
            )

    def _drawn_events(self, rng: np.random.Generator, count: int) -> Arrays:
        return (
            _zipf(rng, self.vocabulary, (count, LONGEST)),
            rng.integers(SHORTEST, LONGEST, size=count, endpoint=True),
            _zipf(rng, self.vocabulary, (count, 2)),
            rng.integers(PAGES, size=count),
            _zipf(rng, len(COUNTRIES), (count,)),
            rng.integers(len(AGENTS), size=count),
        )


def _zipf(rng: np.random.Generator, choices: int, size: tuple[int, ...]) -> npt.NDArray[np.intp]:
    weights = 1 / np.arange(1, choices + 1)
    return places(weights / weights.sum(), rng.random(size))


def _join_words(known: pa.Array, picks: npt.NDArray[Any], lengths: npt.NDArray[Any]) -> pa.Array:
    """Join the first words of each row to one text; `lengths` says how many."""
    taken = picks[np.arange(picks.shape[1]) < lengths[:, None]]
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    return pc.binary_join(pa.ListArray.from_arrays(offsets, known.take(pa.array(taken))), " ")


def _numbers(numbers: npt.NDArray[Any]) -> pa.Array:
    return pa.array(numbers).cast(pa.string())

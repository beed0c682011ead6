"""Requests for articles: what titles and paths look like, and how many subscriptions match."""

import re
from collections import Counter

import numpy as np
import pytest
from tamis_lab.workloads.texts import AGENTS, COUNTRIES, FORMS, Requests

from tamis.matcher import Matcher
from tamis.values import Type

WORKLOAD = Requests(subscriptions=4000)
EVENTS = WORKLOAD.events(2000)
ROWS = EVENTS.rows()
FILLINGS = {
    "v": "[a-z]+",
    "w": "[a-z]+",
    "page": r"\d+",
    "country": "[A-Z]{2}",
    "agent": "[^']+",
    "browser": r"\w+/\d+",
}


def test_attributes_are_texts() -> None:
    assert list(EVENTS.columns) == [("title",), ("path",), ("country",), ("agent",)]
    assert all([c.type for c in columns] == [Type.STR] for columns in EVENTS.columns.values())
    assert all(len(row) == 4 for row in ROWS)


def test_titles_are_eight_to_twenty_words() -> None:
    titles = [row["title"].split(" ") for row in ROWS]
    lengths = Counter(map(len, titles))
    assert set(lengths) == set(range(8, 21))
    assert all(count / 2000 == pytest.approx(1 / 13, abs=0.025) for count in lengths.values())
    assert {word for title in titles for word in title} <= set(WORKLOAD.words)


def test_words_are_as_frequent_as_zipf_says() -> None:
    found = Counter(word for row in ROWS for word in row["title"].split(" "))
    total, harmonic = sum(found.values()), sum(1 / n for n in range(1, 20_001))
    for rank in (1, 2, 10, 50):
        share = found[WORKLOAD.words[rank - 1]] / total
        assert share == pytest.approx(1 / rank / harmonic, rel=0.25)


def test_paths_countries_and_agents() -> None:
    assert all(re.fullmatch(r"/[a-z]+/[a-z]+/\d{1,4}\.html", row["path"]) for row in ROWS)
    assert len({row["path"] for row in ROWS}) > 1900
    assert len(set(COUNTRIES)) == len(COUNTRIES) and {r["country"] for r in ROWS} <= set(COUNTRIES)
    assert Counter(row["country"] for row in ROWS).most_common(1)[0][0] == COUNTRIES[0]
    assert len({row["agent"] for row in ROWS} & set(AGENTS)) > len(AGENTS) * 0.8


def test_forms_are_as_frequent_as_they_should_be() -> None:
    assert sum(form.share for form in FORMS) == pytest.approx(1)
    for form in FORMS:
        pattern = re.escape(form.text)
        for place, filling in FILLINGS.items():
            pattern = pattern.replace(rf"\{{{place}\}}", filling)
        count = sum(re.fullmatch(pattern, text) is not None for text in WORKLOAD.selectors())
        assert count / 4000 == pytest.approx(form.share, abs=0.02)


def test_most_subscriptions_match_less_than_one_event_in_a_hundred() -> None:
    matcher = Matcher(engine="atree")
    matcher.add_many(enumerate(WORKLOAD.selectors()))
    counts = matcher.match_batch(EVENTS).counts()
    rates = np.array([counts.get(id, 0) / 2000 for id in matcher])
    assert np.mean(rates < 0.01) > 0.95
    assert np.mean(rates > 0) > 0.2

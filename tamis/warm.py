"""Compile the kernels ahead of their first use: `python -m tamis.warm`.

Numba compiles a kernel on its first call and caches the result beside the code: it takes a minute,
once per installation. By default this compiles the kernels of the default engine; `--all` adds
those of the other engines and of overlay nodes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

from tamis.engines import DEFAULT, ENGINES
from tamis.errors import InputError, UnsupportedExpression
from tamis.matcher import Matcher

_SELECTORS = (
    "a = 1 AND b > 2 AND c < 3",
    "a = 1 AND b = 2",
    "a > 0 OR s = 'x'",
    "NOT (a = 2) XOR b IS NULL",
    "a IN (1, 2, 3) AND d >= 0.5 AND t > 'm'",
    "AT LEAST 2 OF (a = 1, b = 4, c = 5)",
    "contains(s, 'x') AND a + b > 3",
    "a <> 1",
)
_EVENTS: list[dict[str, object]] = [
    {"a": i % 4, "b": i % 7, "c": None if i % 3 else i, "d": i / 3, "s": "xyz"[i % 3], "t": "n"}
    for i in range(128)
]
_OPTIONS: dict[str, list[dict[str, Any]]] = {
    "atree": [{"filter": "general"}, {"filter": "zero-suppression"}, {"filter": "tvp"}],
}


def warm() -> None:
    """Call every kernel of the default engine once."""
    _use(Matcher())
    few = Matcher()
    few.add_many((i, f"a = {i % 4} AND d < {i}.5") for i in range(6000))
    few.match(_EVENTS[0])
    few.match_batch(_EVENTS, limit=2).per_event()
    for i in range(0, 6000, 2):
        few.remove(i)
    few.match_batch(_EVENTS).counts()


def warm_engine(name: str) -> None:
    """Call the kernels of an engine once, if the engine is installed."""
    for options in [{}, *_OPTIONS.get(name, [])]:
        try:
            matcher = Matcher(engine=name, **options)
        except InputError:  # it needs a library that is not installed
            return
        _use(matcher)


def warm_node() -> None:
    """Call the kernels of an overlay node once, if brokers are installed."""
    try:
        from tamis.broker.config.settings import NodeSettings, Settings
        from tamis.broker.service.warm_up import warm as warm_broker
    except ImportError:
        return
    for routing in ("edge", "covering"):
        warm_broker(Settings(node=NodeSettings(name="warm", routing=routing)))


def warm_all() -> None:
    """Call all kernels once: the default engine's first, then the others' in parallel."""
    warm()
    others: list[Callable[[], None]] = [warm_node]
    others += [partial(warm_engine, name) for name in ENGINES if name != DEFAULT]
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        for done in [pool.submit(other) for other in others]:
            done.result()


def _use(matcher: Matcher) -> None:
    for number, selector in enumerate(_SELECTORS):
        try:
            matcher.add(number, selector, number % 3)
        except UnsupportedExpression:  # some engines support conjunctions only
            continue
    matcher.match(_EVENTS[0])
    matcher.match(_EVENTS[0], limit=1)
    matcher.match_batch(_EVENTS).to_arrow()
    matcher.match_batch(_EVENTS, limit=1).per_event()
    matcher.counts(_EVENTS)
    for number in range(len(_SELECTORS)):
        if number in matcher:
            matcher.remove(number)
    matcher.match_batch(_EVENTS).per_event()


def main(arguments: Sequence[str] | None = None) -> None:
    """Compile the kernels that the command line selects."""
    about = "Compile the kernels of the default engine ahead of their first use."
    parser = argparse.ArgumentParser("python -m tamis.warm", description=about)
    parser.add_argument(
        "--all", action="store_true", help="compile those of all engines and of overlay nodes"
    )
    (warm_all if parser.parse_args(arguments).all else warm)()


if __name__ == "__main__":
    main()

"""The best matches of each event, found without sorting all; or all matches, from tiles."""

from __future__ import annotations

import numpy as np

from tamis.matches.code_names import Ints, SubscriptionTable
from tamis.matches.pairs import Pairs, are_few, sort_pairs
from tamis.matches.tiles import Tiles, word_count


def best_of_pairs(
    pairs: Pairs, counts: Ints, limit: int, subscriptions: SubscriptionTable
) -> Pairs:
    """Return the first `limit` matches of each event, in order; each has `counts` of them."""
    kept = np.minimum(counts, limit)
    most = 2 * kept.sum() > len(pairs.code)  # a heap of nearly all matches is slower than sorting
    if pairs.ordered or most or are_few(pairs.code, subscriptions):
        return _cut(sort_pairs(pairs, subscriptions), counts, kept)
    from tamis.kernels.matches.best import keep_best

    by_rank = subscriptions.ranked_codes(subscriptions.distinct_codes(pairs.code))
    rank = np.empty(len(subscriptions.ids), np.int64)
    rank[by_rank] = np.arange(len(by_rank))
    ends = np.cumsum(kept)
    ranks = np.empty(ends[-1], np.int64)
    keep_best(pairs.event, pairs.code, rank, ends, ranks)
    return _pairs_by_event(by_rank[ranks], kept)


def _cut(pairs: Pairs, counts: Ints, kept: Ints) -> Pairs:
    """Return the first `kept[e]` of the `counts[e]` pairs of each event e."""
    # In the input, a kept pair is shifted by the number of omitted pairs before it.
    left_out = np.cumsum(counts - kept) - (counts - kept)
    where = np.arange(kept.sum()) + np.repeat(left_out, kept)
    return Pairs(pairs.event[where], pairs.code[where], ordered=True)


def best_of_both(
    events: int, pairs: Pairs, tiles: Tiles, limit: int | None, subscriptions: SubscriptionTable
) -> Pairs:
    """Return the first `limit` matches of each event, or all, in order."""
    rank = subscriptions.ranks(subscriptions.distinct_codes(pairs.code, tiles.code))
    code, counts = _best_of_tiles(events, tiles, limit, rank)
    if not len(pairs.code):
        return _pairs_by_event(code, counts)
    from tamis.kernels.matches.best import merge_best

    others = np.bincount(pairs.event, minlength=events)
    if limit is None:
        pairs = sort_pairs(pairs, subscriptions)
        kept = counts + others
    else:
        pairs = best_of_pairs(pairs, others, limit, subscriptions)
        others = np.minimum(others, limit)
        kept = np.minimum(counts + others, limit)
    ends = np.cumsum(kept)
    out = np.empty(ends[-1], np.int64)
    merge_best(np.cumsum(counts), code, np.cumsum(others), pairs.code, rank, ends, out)
    return _pairs_by_event(out, kept)


def _best_of_tiles(events: int, tiles: Tiles, limit: int | None, rank: Ints) -> tuple[Ints, Ints]:
    """Return the codes, and the number of codes of each event."""
    from tamis.kernels.matches.tiles import count_best, fill_best

    rows = tiles.rows_by_rank(rank)
    counts = np.zeros(word_count(events) * 64, np.int64)
    if limit is None:
        counts[:events] = tiles.event_counts(events)
    else:
        count_best(rows, tiles.first, tiles.masks, limit, counts)
    ends = np.cumsum(counts)
    out = np.empty(ends[-1] if events else 0, np.int64)
    fill_best(rows, tiles.first, tiles.code, tiles.masks, ends, out)
    return out, counts[:events]


def _pairs_by_event(code: Ints, counts: Ints) -> Pairs:
    return Pairs(np.repeat(np.arange(len(counts)), counts), code, ordered=True)

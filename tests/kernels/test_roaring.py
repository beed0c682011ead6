"""The bytes of bitmaps against those that pyroaring writes; it ignores some when it reads."""

import numpy as np
from pyroaring import BitMap

from tamis.kernels.counting_sort import group_by_key
from tamis.kernels.matches.bitmaps import WORDS, MatchesByCode, write_bitmaps


def test_bitmaps_have_the_bytes_that_pyroaring_writes() -> None:
    events = [[1, 70_000, 70_001, 200_000], [65_535], list(range(0, 140_000, 3))]
    event = np.concatenate(events)
    code = np.repeat(np.arange(3), [len(some) for some in events])
    none = np.zeros(0, np.int64)
    found = MatchesByCode(
        *group_by_key(none, 3), none, np.zeros((0, 1), np.uint64), event, group_by_key(code, 3)[1]
    )
    out, ends = np.zeros(1 << 18, np.uint16), np.zeros(3, np.int64)
    scratch = np.zeros(4 * WORDS, np.uint64)
    assert write_bitmaps(found, np.arange(3), 0, scratch, out, ends) == 3
    parts = np.split(out[: ends[-1]], ends[:-1])
    assert [part.tobytes() for part in parts] == [BitMap(some).serialize() for some in events]
    assert not scratch.any()

"""Bits, compiled and as plain Python."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.kernels.bits import popcount, trailing_zeros
from tamis.kernels.decorator import kernel


@kernel
def compiled(word: np.uint64) -> tuple[int, int]:
    return popcount(word), trailing_zeros(word)


@given(st.integers(0, 2**64 - 1))
@example(0)
@example(2**63)
@example(2**64 - 1)
def test_bit_counts_agree_compiled_and_as_python(word: int) -> None:
    ones = bin(word).count("1")
    zeros = next((i for i in range(64) if word >> i & 1), 64)
    assert compiled(np.uint64(word)) == (ones, zeros)
    assert (popcount(np.uint64(word)), trailing_zeros(np.uint64(word))) == (ones, zeros)


def test_kernels_run_as_plain_python() -> None:
    script = """
import numpy as np, pyarrow as pa
from tamis.matches import Matches, Tiles
e = np.array([3, 3, 70]); c = np.array([0, 1, 1])
bits = np.array([[2, 1 << 63], [2 ** 64 - 1, 0]], np.uint64)
t = Tiles(np.array([64, 0]), np.array([0, 2]), bits)
m = lambda: Matches(192, e, c, pa.array(["a", "b", "c"]), np.array([1, 2, 3]), t)
assert len(m()) == 69 and m().counts() == {"a": 3, "b": 2, "c": 64}
assert m().event_counts()[[3, 63, 65, 70, 191]].tolist() == [3, 1, 1, 1, 1]
assert m().limited(2).per_event()[3] == ["c", "b"] and m().per_event()[3] == ["c", "b", "a"]
assert list(m().bitmaps()["a"]) == [3, 65, 191]
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr

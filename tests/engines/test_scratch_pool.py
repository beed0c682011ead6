"""The pool of scratch memory that engines share."""

import pickle

import pytest

from tamis.engines.scratch_pool import ScratchPool


def test_scratch_is_reused() -> None:
    pool = ScratchPool(list)
    with pool.borrow() as first:
        pass
    with pool.borrow() as second:
        assert second is first


def test_borrowers_never_share_scratch() -> None:
    pool = ScratchPool(list)
    with pool.borrow() as one, pool.borrow() as other:
        assert one is not other
    assert len(list(pool)) == 2


def test_scratch_is_discarded_after_an_error() -> None:
    pool = ScratchPool(list)
    with pytest.raises(KeyboardInterrupt), pool.borrow():
        raise KeyboardInterrupt
    assert list(pool) == []


def test_a_pickled_pool_is_empty_and_usable() -> None:
    pool = ScratchPool(list)
    with pool.borrow() as scratch:
        scratch.append(1)
    again = pickle.loads(pickle.dumps(pool))
    with again.borrow() as fresh:
        assert fresh == []

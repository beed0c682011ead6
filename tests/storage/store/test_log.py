"""The log: a prefix of the batches after any crash, and an error after any damage."""

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tamis.errors import IndexCorrupt, InputError
from tamis.storage.store.log import HEADER_SIZE, LogWriter, create_log, replay
from tamis.storage.store.log_frames import Change, encode
from tests.storage.store.contents import put

SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False)
CHANGES = st.lists(SCALARS | st.text() | st.binary(max_size=50), max_size=4).map(tuple)
BATCHES = st.lists(st.lists(CHANGES, min_size=1, max_size=3), max_size=5)

FIRST = 7
SECTOR = 512


def write(path: Path, batches: list[list[Change]]) -> list[int]:
    """Write a new log of batches; return where each ends."""
    path.unlink(missing_ok=True)
    create_log(path, FIRST)
    writer = LogWriter(path, FIRST, HEADER_SIZE)
    ends = [writer.size]
    for batch in batches:
        writer.append(batch, sync=False)
        ends.append(writer.size)
    writer.close()
    return ends


def flat(batches: list[list[Change]]) -> list[Change]:
    return [change for batch in batches for change in batch]


@given(batches=BATCHES)
def test_batches_survive_a_round_trip(tmp_path_factory, batches) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    ends = write(path, batches)
    changes = flat(batches)
    assert replay(path, FIRST) == (changes, FIRST + len(changes), ends[-1])
    assert replay(path, FIRST, ends[-1]) == (changes, FIRST + len(changes), ends[-1])


@given(batches=BATCHES)
@example(batches=[[(b"x" * 1200,)], [(1,)]])
def test_a_truncated_log_is_a_prefix_of_the_batches(tmp_path_factory, batches) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    ends = write(path, batches)
    for size in range(ends[-1], HEADER_SIZE - 1, -1):
        os.truncate(path, size)
        count = sum(end <= size for end in ends) - 1
        expected = flat(batches[:count]), FIRST + len(flat(batches[:count])), ends[count]
        assert replay(path, FIRST) == expected
        if size in ends:
            for zeros in (1, 24, 5000):
                os.truncate(path, size + zeros)
                assert replay(path, FIRST) == expected
    for size in range(HEADER_SIZE):
        os.truncate(path, size)
        with pytest.raises(IndexCorrupt):
            replay(path, FIRST)


@pytest.mark.parametrize("length", [1, 440, 441, 500, 511, 512, 513, 1000, 1500, 3000])
def test_unwritten_sectors_are_a_torn_end(tmp_path: Path, length: int) -> None:
    """After a power cut: the file has its length, and its last sectors are zeros."""
    path = tmp_path / "log"
    for before in range(0, 600, 24):
        batches = [[(b"y" * before,)], [(b"x" * length,)], [(b"z" * length, 0, 0)]]
        ends = write(path, batches)
        whole = path.read_bytes()
        for boundary in {*range(0, len(whole), SECTOR), *ends} - {0}:
            if boundary < HEADER_SIZE:
                continue
            # In place, because a file system waits for the disk when a file is rewritten.
            with path.open("r+b") as file:
                file.write(whole)
            os.truncate(path, boundary)
            os.truncate(path, len(whole))
            count = sum(end <= boundary for end in ends) - 1
            found = replay(path, FIRST)
            assert (found.changes, found.size) == (flat(batches[:count]), ends[count])


@pytest.mark.parametrize("mask", [0x01, 0xFF])
def test_every_flipped_bit_is_detected(tmp_path: Path, mask: int) -> None:
    """Also in the last batch, which must not pass for torn, and flips that result in zeros."""
    path = tmp_path / "log"
    batches: list[list[Change]] = [[(1, "a"), (2, "b")], [(0,) * 700], [(0, 0), (b"\0" * 9,)]]
    write(path, batches)
    for place, byte in enumerate(path.read_bytes()):
        for flipped in {byte ^ mask, 0} - {byte}:
            put(path, place, flipped)
            with pytest.raises(IndexCorrupt) as caught:
                replay(path, FIRST)
            assert caught.value.path == str(path)
        put(path, place, byte)


def test_damage_names_its_place(tmp_path: Path) -> None:
    path = tmp_path / "log"
    ends = write(path, [[(1,)], [(2,)], [(3,)]])
    put(path, ends[1] + 24, 0xFF)
    with pytest.raises(IndexCorrupt, match=f"the batch at byte {ends[1]} is wrong"):
        replay(path, FIRST)


def test_a_batch_out_of_order_is_corrupt(tmp_path: Path) -> None:
    path = tmp_path / "log"
    ends = write(path, [[(1,)], [(2,)]])
    whole = path.read_bytes()
    path.write_bytes(whole[: ends[0]] + whole[ends[1] :])
    with pytest.raises(IndexCorrupt, match=f"found change {FIRST + 1}, expected {FIRST}"):
        replay(path, FIRST)


def test_a_writer_cuts_the_torn_end_off(tmp_path: Path) -> None:
    path = tmp_path / "log"
    ends = write(path, [[(1,)], [(2,)]])
    path.write_bytes(path.read_bytes()[:-3])
    found = replay(path, FIRST)
    writer = LogWriter(path, found.position, found.size)
    assert path.stat().st_size == ends[1]
    assert writer.append([(3,), (4,)], sync=True) == FIRST + 3
    writer.close()
    assert replay(path, FIRST).changes == [(1,), (3,), (4,)]


def test_the_end_of_a_sealed_log_is_not_torn(tmp_path: Path) -> None:
    path = tmp_path / "log"
    ends = write(path, [[(1,)], [(2,)]])
    whole = path.read_bytes()
    for wrong in (whole[:-1], whole[: ends[1]], whole + b"\0", whole[:-8] + bytes(8)):
        path.write_bytes(wrong)
        with pytest.raises(IndexCorrupt):
            replay(path, FIRST, ends[2])
    path.write_bytes(whole[: ends[1]].ljust(len(whole), b"\0"))
    with pytest.raises(IndexCorrupt, match="is truncated"):
        replay(path, FIRST, ends[2])


def test_another_file_is_not_a_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with pytest.raises(IndexCorrupt, match="is missing"):
        replay(path, FIRST)
    write(path, [])
    with pytest.raises(IndexCorrupt, match="not the log that starts at change 8"):
        replay(path, 8)
    path.write_bytes(path.read_bytes().replace(b"tamis-index 1 ", b"tamis-index 2 "))
    with pytest.raises(IndexCorrupt, match="format 2"):
        replay(path, FIRST)


@pytest.mark.parametrize("change", ["text", [1], None, (object(),), (2**70,), ("\ud800",)])
def test_unwritable_changes_are_refused(tmp_path: Path, change) -> None:
    path = tmp_path / "log"
    ends = write(path, [[(1,)]])
    writer = LogWriter(path, FIRST + 1, ends[1])
    with pytest.raises(InputError, match="a change"):
        writer.append([(5,), change], sync=False)
    assert writer.append([(2,)], sync=False) == FIRST + 2
    writer.close()
    assert replay(path, FIRST).changes == [(1,), (2,)]


def test_frames_start_at_multiples_of_eight() -> None:
    assert HEADER_SIZE % 8 == 0
    for length in range(20):
        assert len(encode([(b"x" * length,)], 0)) % 8 == 0


def test_a_batch_is_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log"
    ends = write(path, [])
    writer = LogWriter(path, FIRST, ends[0])
    writes = []

    class Counted:
        def __init__(self, file) -> None:
            self.file = file

        def write(self, part) -> int:
            writes.append(len(part))
            return self.file.write(part)

        def __getattr__(self, name: str):
            return getattr(self.file, name)

    monkeypatch.setattr(writer, "_file", Counted(writer._file))
    writer.append([(n, "x" * 100) for n in range(10_000)], sync=False)
    assert writes == [writer.size - ends[0]]
    writer.close()

"""Events from JSON lines and JSON arrays."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from tamis.errors import InputError
from tamis.events.files import read_events
from tests.events.file_cases import put, read


@pytest.mark.parametrize("name", ["e.jsonl", "e.ndjson", "e.json", "e.JSONL", "e", "e.jsonl.gz"])
def test_json_lines_are_read(tmp_path: Path, name: str) -> None:
    file = put(tmp_path / name, '{"a": 1, "b": {"c": "é"}}\n\n  \r\n{"a": 2.5}\r\n{"a": null}')
    assert read(file) == ({0: {"a": 1, "b": {"c": "é"}}, 1: {"a": 2.5}, 2: {}}, [])


BAD_JSON = {
    b'{"a": 1': "not JSON: it ends early",
    b"5": "not a JSON object but int",
    b"[1, 2]": "not a JSON object but array",
    b"null": "not a JSON object but null",
    b'{"a": "\xff"}': "not valid UTF-8",
    b'{"a": 9223372036854775808}': "attribute 'a': integer 9223372036854775808 does not fit",
    b'{"a": [1, 99999999999999999999]}': "attribute 'a': integer 99999999999999999999 does not",
    b'{"a": 1e999}': "number out of range",
    b'{"a": NaN}': "not JSON: invalid character",
    b'{"a": 1} {"a": 2}': "not JSON: trailing characters",
    # How deep msgspec goes is the interpreter's: 1,000 levels before 3.12, tens of thousands since.
    b'{"a":' * 100_000: "objects nest too deep",
    b'{"a":' * 150 + b"1" + b"}" * 150: "attribute 'a': objects nest deeper than 100",
    b"\x00\x01": "not JSON",
}


def test_bad_json_lines_are_skipped_and_reported(tmp_path: Path) -> None:
    lines = [b'{"n": 0}', b""]
    for text in BAD_JSON:
        lines += [text, b'{"n": 1}']
    events, bad = read(put(tmp_path / "e.jsonl", b"\n".join(lines)))
    # Record 0 is good, then bad and good ones alternate: numbers count both.
    assert list(events) == list(range(0, 2 * len(BAD_JSON) + 1, 2))
    assert [line for line, _ in bad] == list(range(3, 3 + 2 * len(BAD_JSON), 2))
    for (_, reason), expected in zip(bad, BAD_JSON.values(), strict=True):
        assert reason.startswith(expected), (reason, expected)


def test_a_json_array_is_read_with_its_lines(tmp_path: Path) -> None:
    file = put(
        tmp_path / "e.json", '\n[{"a": 1}, {"a": 1}\n,{\n"a":\n2}, 7,\n [{"a": 1}],{"a": 3}]'
    )
    events, bad = read(file)
    assert events == {0: {"a": 1}, 1: {"a": 1}, 2: {"a": 2}, 5: {"a": 3}}
    assert bad == [(5, "not a JSON object but int"), (6, "not a JSON object but array")]


def test_a_broken_array_is_a_broken_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="in the array: not JSON"):
        read(put(tmp_path / "e.json", '[{"a": 1}, {"a" 2}]'))
    assert read(put(tmp_path / "e.json", "[]")) == ({}, [])
    assert read(put(tmp_path / "e.json", " \n")) == ({}, [])


def test_standard_input_is_read_as_it_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe(io.RawIOBase):
        blocks: ClassVar = [b'{"a": 1}\n{"a"', b": 2}\n", b'{"a": 3}', b"\n\n", b'{"a": 4}']

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
            block = self.blocks.pop(0) if self.blocks else b""
            buffer[: len(block)] = block
            return len(block)

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Pipe())))
    chunks = [(numbers, batch.rows()) for numbers, batch, _ in read_events("-")]
    assert chunks == [
        ([0], [{"a": 1}]),
        ([1], [{"a": 2}]),
        ([2], [{"a": 3}]),
        ([3], [{"a": 4}]),
    ]


def test_json_over_several_lines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"ends early; a \.json file holds one object per line, or"
    ):
        list(read_events(put(tmp_path / "e.json", '{\n  "a": 1\n}\n')))
    _, bad = read(put(tmp_path / "e.jsonl", "{\n"))
    assert bad == [(1, "not JSON: it ends early")]


LONE = "text holds a lone surrogate, which is not valid Unicode"


@pytest.mark.parametrize("text", [r'"\ud800"', r'"\udc00 x"', r'"\ud800A"', r'["\uD800x"]'])
def test_a_lone_surrogate_is_a_bad_line(tmp_path: Path, text: str) -> None:
    assert read(put(tmp_path / "e.jsonl", f'{{"a": {text}}}\n')) == ({}, [(1, LONE)])
    with pytest.raises(InputError, match=f"in the array: {LONE}"):
        read(put(tmp_path / "e.json", f'[{{"a": {text}}}]'))


def test_an_escaped_backslash_before_a_u_is_valid(tmp_path: Path) -> None:
    file = put(tmp_path / "e.jsonl", r'{"a": "\\ud800", "b": "\ud83d\ude00"}' + "\n{\\ud800\n")
    events, bad = read(file)
    assert events == {0: {"a": r"\ud800", "b": "😀"}} and bad[0][1].startswith("not JSON")

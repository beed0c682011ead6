"""`tools/check_names.py` finds what `make check` promises to find."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def check_names():
    spec = importlib.util.spec_from_file_location("check_names", ROOT / "tools" / "check_names.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


MANY = ", ".join("abcdefghi")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"a/judging.py": ""}, "gerund"),
        ({"a/told.py": ""}, "participle"),
        ({"a/part.py": "", "b/part.py": ""}, "module name 'part' is used again"),
        ({"a/part.py": "def joined(): ..."}, "joined() is a bare participle"),
        ({"a/part.py": "class A:\n    def _held(self): ..."}, "_held() is a bare participle"),
        ({"a/part.py": "class A: ...", "b/other.py": "class A: ..."}, "class name 'A'"),
        ({"a/part.py": "def judge_event(): ..."}, "say match or evaluate"),
        ({"a/part.py": f"@kernel\ndef walk({MANY}): ..."}, "walk() takes 9 arguments"),
    ],
)
def test_a_bad_name_is_listed(
    check_names, tmp_path: Path, files: dict[str, str], words: str
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (line,) = check_names.offenders_in(tmp_path)
    assert words in line


@pytest.mark.parametrize(
    "files",
    [
        {"a/routing.py": "", "a/compile.py": "def compile(): ..."},
        {"a/part.py": "def joined_rows(): ...\ndef seed(): ...\ndef is_held(): ..."},
        {"match/match.py": "", "a/match.py": ""},
        {"a/part.py": f"def walk({MANY}): ..."},
    ],
)
def test_a_good_name_is_not(check_names, tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert list(check_names.offenders_in(tmp_path)) == []

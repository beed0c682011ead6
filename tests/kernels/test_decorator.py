"""The compile cache notices when a kernel, or one that it calls, has changed."""

import os
import subprocess
import sys
from pathlib import Path

_MODULE = """
from typing import NamedTuple
import numpy as np
from tamis.kernels.decorator import kernel

class {name}(NamedTuple):
    numbers: np.ndarray

@kernel
def total(pair: {name}) -> int:
    return pair.numbers.sum() + {more}

print(total({name}(np.arange(4))))
"""
_CALLED = """
from tamis.kernels.decorator import kernel

@kernel
def step(number: int) -> int:
    return number + {more}
"""
_CALLING = """
from called import step
from tamis.kernels.decorator import kernel

@kernel
def twice(number: int) -> int:
    return step(step(number))

print(twice(1))
"""


def run(folder: Path, name: str, more: int) -> str:
    (folder / "counted.py").write_text(_MODULE.format(name=name, more=more))
    return imported(folder, "counted")


def imported(folder: Path, module: str) -> str:
    """Import a module; return what it prints. As a script, the cache would name `__main__`."""
    done = subprocess.run(
        [sys.executable, "-c", f"import {module}"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_class_of_arguments_may_be_renamed(tmp_path: Path) -> None:
    assert run(tmp_path, "Before", 0) == "6"
    assert list((tmp_path / "__pycache__").glob("*.nbi")), "nothing was cached: nothing is tested"
    assert run(tmp_path, "After", 1) == "7"


def test_a_kernel_that_is_called_may_change(tmp_path: Path) -> None:
    (tmp_path / "calling.py").write_text(_CALLING)
    for more in (1, 10):
        (tmp_path / "called.py").write_text(_CALLED.format(more=more))
        assert imported(tmp_path, "calling") == str(1 + 2 * more)


def test_an_unchanged_kernel_is_not_compiled_again(tmp_path: Path) -> None:
    assert run(tmp_path, "Same", 0) == "6"
    compiled = {file: file.stat().st_mtime_ns for file in tmp_path.glob("__pycache__/*.nbc")}
    assert imported(tmp_path, "counted") == "6"
    assert compiled == {f: f.stat().st_mtime_ns for f in tmp_path.glob("__pycache__/*.nbc")}
    assert compiled

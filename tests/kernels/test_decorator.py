"""The cache of compiled kernels outlives the code that it was made from."""

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


def run(folder: Path, name: str, more: int) -> str:
    file = folder / "counted.py"
    file.write_text(_MODULE.format(name=name, more=more))
    # Imported, not run: Numba's cache would name `__main__`.
    done = subprocess.run(
        [sys.executable, "-c", "import counted"],
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

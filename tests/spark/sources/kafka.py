"""A Kafka broker for tests: its published jars, run by the Java that runs Spark.

Jars are resolved by their coordinates, with Maven, and kept in the cache folder of the user.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

from tamis.spark.session import java_home

# Brokers from 4.0 on need Java 17, as Spark does.
BROKER = ("org.apache.kafka:kafka_2.13:4.1.0",)

# Spark's connector for Kafka, of the version of Spark where it is available.
# Otherwise an older one works: the parts of Spark that it uses have not changed.
_CONNECTORS = (
    (
        "org.apache.spark:spark-sql-kafka-0-10_2.13:{spark}",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:{spark}",
    ),
    (
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.0.0",
    ),
)
_CLIENT = ("org.apache.kafka:kafka-clients:3.9.2", "org.apache.commons:commons-pool2:2.13.1")

_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>tamis</groupId><artifactId>jars</artifactId><version>1</version>
  <dependencies>
{}
  </dependencies>
</project>
"""
_ALONE = (
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
)

_PROPERTIES = """\
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:{controller}
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={logs}
num.partitions=2
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


class Unavailable(Exception):
    """Kafka is not available here."""


@functools.cache
def connector(spark: str) -> list[Path]:
    """Return the jars that the distribution of Spark lacks."""
    for coordinates in _CONNECTORS:
        named = [text.format(spark=spark) for text in coordinates]
        try:
            return jars([*named, *_CLIENT], alone=True)
        except Unavailable as error:
            missing = error
    raise missing


def jars(coordinates: Sequence[str], alone: bool = False) -> list[Path]:
    """Return jars and, unless they are wanted alone, their dependencies.

    The dependencies of Spark's modules are not followed: nearly all of them are in Spark already,
    and its POM names repositories of its own, which may be out of reach.

    Raises:
        Unavailable: There is no Maven, or it does not find them.
    """
    maven = shutil.which("mvn")
    if maven is None:
        raise Unavailable("there is no mvn")
    name = hashlib.sha256(repr((list(coordinates), alone)).encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tamis")
    folder = cache / f"jars-{name}"
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        # Written aside and renamed, so that no other process uses an incomplete folder.
        with tempfile.TemporaryDirectory(dir=cache) as aside:
            _resolve(maven, coordinates, alone, Path(aside))
            with contextlib.suppress(OSError):  # another process was faster
                Path(aside, "jars").rename(folder)
    return sorted(folder.glob("*.jar"))


def _resolve(maven: str, coordinates: Sequence[str], alone: bool, folder: Path) -> None:
    (folder / "pom.xml").write_text(_POM.format("\n".join(_wanted(c, alone) for c in coordinates)))
    command = [maven, "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime"]
    try:
        ran = subprocess.run(
            [*command, f"-DoutputDirectory={folder / 'jars'}"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=600,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise Unavailable(f"mvn does not run: {error}") from error
    if ran.returncode:
        said = [line for line in ran.stdout.splitlines() if line.startswith("[ERROR]")]
        raise Unavailable(f"mvn does not find {', '.join(coordinates)}: {said[:1]}")


def _wanted(coordinate: str, alone: bool) -> str:
    group, artifact, version = coordinate.split(":")
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version>{_ALONE if alone else ''}</dependency>"
    )


@contextlib.contextmanager
def broker(folder: Path) -> Iterator[str]:
    """Run a broker with its data in a folder; yield its address.

    Raises:
        Unavailable: The jars cannot be had.
    """
    classes = os.pathsep.join(map(str, jars(BROKER)))
    java = [str(java_home() / "bin" / "java"), "-Xmx256m", "-cp", classes]
    port, controller = _free_ports(2)
    settings = folder / "server.properties"
    settings.write_text(_PROPERTIES.format(port=port, controller=controller, logs=folder / "logs"))
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    with (folder / "broker.log").open("wb") as log:
        tool = ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(settings)]
        subprocess.run([*java, *tool], check=True, stdout=log, stderr=log, timeout=120)
        process = subprocess.Popen([*java, "kafka.Kafka", str(settings)], stdout=log, stderr=log)
    try:
        _wait(process, port, folder / "broker.log")
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()  # its data is not needed any more
        process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + 120
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        said = log.read_text(errors="replace")[-3000:]
        assert process.poll() is None and time.monotonic() < end, f"no broker: {said}"
        time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        found = []
        for _ in range(count):
            taken = stack.enter_context(socket.socket())
            taken.bind(("127.0.0.1", 0))
            found.append(taken.getsockname()[1])
        return found

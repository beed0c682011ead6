"""Peers in other languages: a small driver each, built on first use and kept in a cache folder.

A driver gets a folder and limits (`Limits`) on its command line, reads RULES, EVENTS and ATTRIBUTES
there, and prints an `Outcome` as JSON. It constructs its events in advance and times only the
package.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import xxhash

from tamis_lab.peers.peer import Limits, Outcome
from tamis_lab.peers.python_peers import GRACE

SOURCES = Path(__file__).parent / "drivers"
ATTRIBUTES = "attributes.json"
BUILD_PATIENCE = 600.0
# The address of a package registry does not belong into a row of results.
_ADDRESS = re.compile(r"https?://[^\s:]+(?::\d+)?[^\s:]*")


class CannotBuild(Exception):
    """A driver could not be built; the message is the tool's."""


@dataclass(frozen=True)
class Driver:
    """The source of a driver, and how it becomes a command.

    Attributes:
        language: Its folder in `drivers/`.
        tools: The commands that build it.
        steps: Returns the build commands, given the folders of the source and of the build.
        command: Returns the command that runs it, given the folder of the build.
        environment: Returns environment variables for the steps, given the same.
        marker: A file that exists once the driver is built.
    """

    language: str
    tools: tuple[str, ...]
    steps: Callable[[Path, Path], list[list[str]]]
    command: Callable[[Path], list[str]]
    marker: str
    environment: Callable[[Path], Mapping[str, str]] = field(default=lambda _: {})

    def unavailable(self) -> str | None:
        """Return why it cannot be built here, or None."""
        missing = [tool for tool in self.tools if not shutil.which(tool)]
        if self.is_built() or not missing:
            return None
        return f"not installed: {', '.join(missing)} (to build its driver)"

    def is_built(self) -> bool:
        """Whether it was built before, from the same source."""
        return (self.folder() / self.marker).exists()

    def folder(self) -> Path:
        """Return its build folder, which depends on the source: a changed source is rebuilt."""
        digest = xxhash.xxh64()
        for file in sorted((SOURCES / self.language).rglob("*")):
            if file.is_file():
                digest.update(file.name.encode() + file.read_bytes())
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "tamis")
        return cache / "peers" / f"{self.language}-{digest.hexdigest()}"

    def build(self, say: Callable[[str], None] = lambda _: None) -> Path:
        """Build the driver unless it is built already, and return its folder.

        Raises:
            CannotBuild: A package cannot be fetched, or a tool is too old.
        """
        folder = self.folder()
        if self.is_built():
            return folder
        say(f"building the {self.language} driver, once …")
        work = folder.with_name(f"{folder.name}.{os.getpid()}")
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(SOURCES / self.language, work / "source")
        try:
            for step in self.steps(work / "source", work):
                self._run(step, work)
            os.replace(work, folder)
        except OSError:  # another process was faster
            if not self.is_built():
                raise
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return folder

    def _run(self, step: list[str], work: Path) -> None:
        try:
            subprocess.run(
                step,
                cwd=work / "source",
                env={**os.environ, **self.environment(work)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                timeout=BUILD_PATIENCE,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            said = [line.strip() for line in error.stdout.splitlines() if line.strip()]
            faults = [line for line in said if "rror" in line or "orbidden" in line] or said
            message = faults[0] if faults else f"exit code {error.returncode}"
            message = _ADDRESS.sub("its registry", message)[:300]
            raise CannotBuild(f"its driver cannot be built: {step[0]}: {message}") from error
        except subprocess.TimeoutExpired as error:
            raise CannotBuild(f"its driver cannot be built: {step[0]} took too long") from error


def driver_runner(driver: Driver, *first: str) -> Callable[[Path, Limits], Outcome]:
    """Return a function that runs a driver, with these arguments before the others.

    Raises:
        CannotBuild: It could not be built.
        TimeoutExpired: It took far longer than its limits.
        CalledProcessError: It failed.
    """

    def run_driver(folder: Path, limits: Limits) -> Outcome:
        command = [*driver.command(driver.build()), *first, str(folder), *map(str, limits)]
        done = subprocess.run(
            command,
            capture_output=True,
            check=True,
            timeout=limits.build + 4 * limits.match + GRACE,
        )
        return cast(Outcome, json.loads(done.stdout))

    return run_driver


def _java(source: Path) -> list[str]:
    return sorted(map(str, source.glob("*.java")))


RUST = Driver(
    language="rust",
    tools=("cargo",),
    steps=lambda source, _: [["cargo", "build", "--release", "--locked", "--quiet"]],
    command=lambda built: [str(built / "release" / "tamis-peer-a-tree")],
    environment=lambda built: {"CARGO_TARGET_DIR": str(built)},
    marker="release/tamis-peer-a-tree",
)
GO = Driver(
    language="go",
    tools=("go",),
    steps=lambda source, built: [
        ["go", "get", "quamina.net/go/quamina@latest"],
        ["go", "build", "-o", str(built / "quamina"), "."],
    ],
    command=lambda built: [str(built / "quamina")],
    marker="quamina",
)
JAVA = Driver(
    language="java",
    tools=("mvn", "javac", "java"),
    steps=lambda source, built: [
        ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={built / 'lib'}"],
        ["javac", "-cp", f"{built / 'lib'}/*", "-d", f"{built / 'classes'}", *_java(source)],
    ],
    command=lambda built: [
        "java",
        # A single-threaded garbage collector: everything runs on one thread.
        "-XX:+UseSerialGC",
        "-Xmx4g",
        "-cp",
        f"{built / 'classes'}{os.pathsep}{built / 'lib'}/*",
        "Driver",
    ],
    marker="classes/Driver.class",
)

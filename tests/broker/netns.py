"""A network namespace with two cables to it, one of which can be pulled: Linux and root only."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import pytest


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=20)


class Cable:
    """To a namespace: its ends are `here` and `there`; `aside` is reached over another cable."""

    def __init__(self) -> None:
        word = uuid4().hex[:6]
        self.namespace = f"tamis-{word}"
        self._ends = f"tam{word}a", f"tam{word}b"
        self._others = f"tam{word}c", f"tam{word}d"
        # A range for tests of networks (RFC 2544); the word keeps two tests apart.
        third = int(word[:2], 16)
        self.here, self.there = f"198.18.{third}.1", f"198.18.{third}.2"
        self._beside, self.aside = f"198.19.{third}.1", f"198.19.{third}.2"
        self.inside = ("ip", "netns", "exec", self.namespace)

    def lay(self) -> None:
        _ip("netns", "add", self.namespace)
        _ip("-n", self.namespace, "link", "set", "lo", "up")
        self._laid(self._ends, self.here, self.there)
        self._laid(self._others, self._beside, self.aside)

    def _laid(self, ends: tuple[str, str], here: str, there: str) -> None:
        one, other = ends
        _ip("link", "add", one, "type", "veth", "peer", "name", other, "netns", self.namespace)
        _ip("addr", "add", f"{here}/30", "dev", one)
        _ip("link", "set", one, "up")
        _ip("-n", self.namespace, "addr", "add", f"{there}/30", "dev", other)
        _ip("-n", self.namespace, "link", "set", other, "up")

    def cut(self) -> None:
        _ip("-n", self.namespace, "link", "set", self._ends[1], "down")

    def mend(self) -> None:
        _ip("-n", self.namespace, "link", "set", self._ends[1], "up")

    def remove(self) -> None:
        subprocess.run(["ip", "netns", "del", self.namespace], capture_output=True, timeout=20)
        for each in (self._ends[0], self._others[0]):
            subprocess.run(["ip", "link", "del", each], capture_output=True, timeout=20)


@contextmanager
def cable() -> Iterator[Cable]:
    """Create a cable; skip the test where that is not possible."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("network namespaces need root, and the program ip")
    laid = Cable()
    try:
        try:
            laid.lay()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no network namespaces here: {error.stderr.decode().strip()}")
        yield laid
    finally:
        laid.remove()

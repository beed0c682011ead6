"""Work in a process of its own, so that nothing else is in the figure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any


def run_in_fresh_process(
    function: Callable[..., object],
    *arguments: object,
    limit: float | None = None,
    memory: int | None = None,
    quiet: bool = False,
) -> Any:
    """Call a function of a module in a new process; what goes in and out is JSON's.

    Args:
        function: It, and all that it needs, can be imported.
        arguments: What it is called with.
        limit: Seconds that it may take.
        memory: Bytes of addresses that it may have.
        quiet: What it writes to stderr is kept for the error instead of shown.

    Raises:
        TimeoutExpired: It took longer than the limit, in seconds, and was ended.
        CalledProcessError: It failed.
    """
    bounded = f"resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory})); "
    code = (
        "import json, resource, sys; "
        f"{bounded if memory else ''}"
        f"from {function.__module__} import {function.__name__} as function; "
        "found = function(*json.loads(sys.argv[1])); "
        "sys.stdout.write(json.dumps(found))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if quiet else None,
        check=True,
        timeout=limit,
    )
    return json.loads(done.stdout)

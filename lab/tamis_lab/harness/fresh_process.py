"""Run a function in its own process, so that nothing else affects the figure."""

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
    """Call a function of a module in a new process; arguments and result must be JSON values.

    Args:
        function: A function of a module that can be imported.
        arguments: Its arguments.
        limit: The most seconds it may take.
        memory: The largest address space it may use, in bytes.
        quiet: Capture its stderr for the error instead of showing it.

    Raises:
        TimeoutExpired: It took longer than `limit` and was killed.
        CalledProcessError: It failed.
    """
    bounded = f"resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory})); "
    code = (
        "import json, resource, sys; "
        f"{bounded if memory else ''}"
        f"from {function.__module__} import {function.__name__} as function; "
        "result = function(*json.loads(sys.argv[1])); "
        "sys.stdout.write(json.dumps(result))"
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

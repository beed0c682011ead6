"""A client written from docs/reference/protocol.md alone works: the npm client of NATS."""

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tamis.broker.config.settings import Settings
from tests.broker.conftest import Nats, brokering, run

ROOT = Path(__file__).parents[3]
HOME = Path(os.environ.get("TAMIS_NODE", ROOT / ".cache" / "node"))


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
@pytest.mark.skipif(
    not (HOME / "node_modules" / "nats").exists(),
    reason="npm install --no-save --no-package-lock --prefix .cache/node nats@2.29.3",
)
def test_a_javascript_client_needs_only_the_protocol(shared_nats: Nats, prefix: str) -> None:
    async def work() -> None:
        async with brokering(shared_nats.url, Settings(prefix=prefix)):
            command = ["node", Path(__file__).with_name("client.mjs"), shared_nats.url, prefix]
            done = await asyncio.to_thread(
                subprocess.run,
                command,
                env={**os.environ, "NODE_HOME": str(HOME)},
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.returncode == 0, done.stderr
            check(json.loads(done.stdout))

    def check(seen: dict) -> None:
        assert seen["put"] == {"id": "dear €", "revision": 1}
        assert seen["many"]["results"][0] == {"id": "b", "revision": 2}
        assert seen["many"]["results"][1]["error"]["code"] == "selector"
        assert [s["id"] for s in seen["list"]["subscriptions"]] == ["b", "dear €"]
        assert seen["refused"]["error"]["message"].endswith("  price > > 100\n          ^")
        assert seen["published"] == [1, 2, 3, 4, 4]
        assert seen["deliveries"] == [
            {
                "event": {"price": price},
                "sequence": sequence,
                "subscriptions": ids,
                "priority": priority,
                "revision": 2,
                "redelivered": False,
            }
            for price, sequence, ids, priority in (
                (120, 1, ["dear €", "b"], 3),
                (50, 2, ["b"], 0),
                (200, 4, ["dear €", "b"], 3),
            )
        ]
        assert seen["removed"] == {"removed": 1, "revision": 3}
        assert seen["closed"] == {"removed": 1}

    run(work())

"""The configuration file of a NATS server that we start, as text; no I/O.

Other modules contribute whole sections, such as accounts and TLS.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """The configuration of a server.

    Attributes:
        store: The folder of its streams.
        host: The address to listen on; the loopback interface by default.
        port: The port; -1 for any free port.
        max_payload: The largest message, in bytes.
        sync_always: Whether each message is synced to disk before it is confirmed, so that it
            survives a power cut. Otherwise a confirmed message survives the end of the process
            only.
        max_store: The most bytes of all streams together; None for the size of the disk.
        sections: Further sections in the syntax of NATS, such as accounts and TLS.
    """

    store: Path
    host: str = "127.0.0.1"
    port: int = 4222
    max_payload: int = MIB
    sync_always: bool = False
    max_store: int | None = None
    sections: tuple[str, ...] = field(default=())

    def text(self) -> str:
        """Return the text of the file.

        >>> print(ServerConfig(store=Path("data")).text())
        listen: "127.0.0.1:4222"
        server_name: "tamis-4222"
        max_payload: 1048576
        write_deadline: "10s"
        jetstream {
          store_dir: "data"
          sync_interval: "2m"
        }
        <BLANKLINE>
        """
        # A JSON string is a valid NATS string, except for \u escapes.
        quoted = partial(json.dumps, ensure_ascii=False)
        name = self.port if self.port > 0 else "any"
        lines = [
            f"listen: {quoted(f'{self.host}:{self.port}')}",
            f"server_name: {quoted(f'tamis-{name}')}",
            f"max_payload: {self.max_payload}",
            'write_deadline: "10s"',
            "jetstream {",
            f"  store_dir: {quoted(str(self.store))}",
            f"  sync_interval: {quoted('always' if self.sync_always else '2m')}",
        ]
        if self.max_store is not None:
            lines.append(f"  max_file_store: {self.max_store}")
        lines.append("}")
        return "\n".join([*lines, *self.sections]) + "\n"

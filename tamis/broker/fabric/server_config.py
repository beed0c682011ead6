"""The configuration of a NATS server that we start: text, and nothing else.

Sections are added here and nowhere else; who may do what, and TLS, belong here too.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

MIB = 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """What a server is told.

    Attributes:
        host: Where it listens; the loopback unless told otherwise.
        port: Its port; -1 for any that is free.
        store: The folder of its streams.
        max_payload: Bytes of a message.
        sync_always: Whether every message waits for the disk, to survive a power cut; else a
            message that is confirmed survives the end of the process only.
        max_store: Bytes of all streams; None for what the disk has.
        sections: More of the configuration, each in the language of NATS: accounts, TLS.
    """

    store: Path
    host: str = "127.0.0.1"
    port: int = 4222
    max_payload: int = MIB
    sync_always: bool = False
    max_store: int | None = None
    sections: tuple[str, ...] = field(default=())

    def text(self) -> str:
        """The file.

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
        # JSON's strings are strings of this language, but for its \u.
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

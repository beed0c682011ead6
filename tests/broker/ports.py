"""A port that is free; two tests at once get different ones."""

import socket


def free_port() -> int:
    with socket.socket() as there:
        there.bind(("127.0.0.1", 0))
        return int(there.getsockname()[1])

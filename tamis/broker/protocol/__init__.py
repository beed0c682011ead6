"""Names and message formats on NATS; no I/O. See docs/reference/protocol.md."""

"""The gateway is tested on the same service as the broker."""

from tests.broker.conftest import own_nats, prefix, processes, service, shared_nats

__all__ = ["own_nats", "prefix", "processes", "service", "shared_nats"]

"""The live service on NATS: subscriptions, matching, delivery.

Only this package imports `nats`. `protocol` holds names and message formats, which
docs/reference/protocol.md describes for clients in other languages. `fabric` holds what every part
needs from NATS: connections, streams, pulling and publishing. `service` is the broker: it indexes
the subscriptions of a bucket, answers requests about them, matches events and delivers them.
`client` is the Python client, `security` holds users and TLS, and `overlay` links brokers on
several NATS servers.
"""

from tamis.broker.client.connect import connect

__all__ = ["connect"]

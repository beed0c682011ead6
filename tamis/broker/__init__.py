"""The live service on NATS: subscriptions, matching, delivery. Nobody else imports `nats`.

`names` says what everything is called, `wire` what messages look like; docs/reference/protocol.md
is the text of both, for clients in other languages. A broker (`broker`) indexes the subscriptions
of a bucket (`register`), answers requests about them (`requests`), judges events (`judging`) and
delivers them (`delivering`). `client` is how Python talks to it.
"""

from tamis.broker.client.connect import connect

__all__ = ["connect"]

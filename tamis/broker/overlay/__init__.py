"""The overlay: nodes, each a NATS server with its brokers, in an acyclic graph of links.

A node works only on its own NATS server: `node_table` follows the interests of its subscribers and
neighbours, `advertiser` writes the interests to advertise to each neighbour, and `forwarder` puts
events into the queues of links. A link (`link_keeper`) has connections to two servers and copies
interests (`interest_copier`) and events (`event_mover`) in both directions.
`tamis.broker.protocol.link_permissions` lists what a link does at the other node; a user with the
role `link` may do exactly that. docs/guides/overlay.md is the operator's guide.
"""

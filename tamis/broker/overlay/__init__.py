"""The overlay: nodes, each a NATS server with its brokers, in an acyclic graph of links.

A node only ever works on its own NATS: `table` follows what its subscribers and its neighbours
want, `telling` writes down what each neighbour is to know, `forwarding` puts events into the queue
of a link. A link (`linking`) has connections to two servers, and copies: interests (`copying`) and
events (`moving`), in both directions. `rights` has all that it does at the other node, which is all
that a user of the role `link` may do. docs/guides/overlay.md is for who runs it.
"""

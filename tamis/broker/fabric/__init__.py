"""Everything that talks to NATS: connections, servers, streams, pulling, publishing, following."""

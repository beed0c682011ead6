"""NATS: connections, servers, streams, pulling, publishing, following."""

"""Users, NATS accounts, TLS, and the addresses on which a server may listen."""

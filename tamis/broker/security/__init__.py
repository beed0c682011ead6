"""Users, accounts, TLS, and where a server may listen."""

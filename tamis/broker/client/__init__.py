"""Clients: `tamis.connect`, and access for synchronous programs."""

"""Clients: `tamis.connect`, and access from programs without `await`."""

"""Routing between brokers: interests, Bloom filters, and the strategies that forward events."""

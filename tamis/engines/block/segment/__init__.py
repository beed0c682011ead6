"""Immutable segments: their arrays, their subscriptions, their files."""

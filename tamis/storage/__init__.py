"""Matchers on disk: a crash-safe store of segments, and the index that uses it."""

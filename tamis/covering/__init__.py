"""Covering: whether every event that satisfies one selector satisfies another."""

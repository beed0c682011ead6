"""Reasoning about rule sets."""

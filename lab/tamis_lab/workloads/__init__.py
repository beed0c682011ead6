"""Seeded workloads, each after the generator of a paper: subscriptions and events to measure by."""

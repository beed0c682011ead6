"""Seeded workloads for benchmarks and tests: subscriptions and events, most from a paper."""

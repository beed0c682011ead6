"""Benchmarks: seeded workloads in, JSON out."""

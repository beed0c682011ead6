"""Measurements: seeded workloads in, JSON out."""

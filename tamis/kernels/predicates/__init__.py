"""Kernels of the predicate index."""

"""Kernels of the block engine."""

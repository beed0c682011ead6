"""Kernels of the A-Tree engine."""

"""Kernels of the BDD engine."""

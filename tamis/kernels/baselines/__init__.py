"""Kernels of the counting and Gryphon engines."""

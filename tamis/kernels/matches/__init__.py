"""Kernels that turn matches into pairs, bitmaps and best-k answers."""

"""Kernels of Bloom filters and the structures of the DEBS 2008 paper."""

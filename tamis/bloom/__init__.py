"""Bloom filters, and the structures of the DEBS 2008 paper that are built from them.

Z. Jerzak, C. Fetzer, "Bloom filter based routing for content-based publish/subscribe". The package
is below the engines, because the engine `bloom` and the routing between brokers both use it.
"""

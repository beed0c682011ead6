"""Bloom filters, and the structures of the DEBS 2008 paper that are made of them.

Z. Jerzak, C. Fetzer, "Bloom filter based routing for content-based publish/subscribe". They stand
below the engines, because the engine `bloom` and the routing between brokers both have them.
"""

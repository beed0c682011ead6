"""Baselines of the papers: brute force, counting, Gryphon, the Siena poset and the forest."""

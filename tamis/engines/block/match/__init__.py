"""Matching: rank events on the axes of a segment, run the kernels, collect the matches."""

"""Inner loops, compiled by Numba: arrays in, arrays out. Imports nothing of ours."""

"""The laboratory of Tamis: benchmarks, workloads, simulations, the papers' evaluation, the demo."""

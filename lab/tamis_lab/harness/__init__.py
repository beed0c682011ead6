"""What all benchmarks share: rounds and spread, fresh processes, memory, plots, a Spark session."""

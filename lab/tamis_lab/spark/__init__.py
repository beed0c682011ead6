"""What the laboratory runs on Spark: workloads as tables, sweeps, simulations."""

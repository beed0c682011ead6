"""Networks of brokers, simulated on Spark: how large, what is kept of it, and a page about it."""

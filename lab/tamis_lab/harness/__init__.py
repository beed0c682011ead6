"""What every measurement shares: rounds and spread, fresh processes, memory, a Spark session."""

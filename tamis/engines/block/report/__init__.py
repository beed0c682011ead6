"""Reports about the engine: statistics, costs, descriptions of plans, drawings."""

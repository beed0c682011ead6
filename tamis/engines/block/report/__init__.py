"""What the engine reports about itself: statistics, costs, plans in words, drawings."""

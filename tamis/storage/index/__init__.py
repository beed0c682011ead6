"""What a matcher keeps: its subscriptions in memory, and all of itself on disk."""

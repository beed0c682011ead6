"""The subscriptions of a matcher in memory, and the whole matcher on disk."""

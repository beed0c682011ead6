"""Compile subscriptions into versioned indexes, in one piece or in shards."""

"""Where an event has to go: by tests of which one must hold, kept in Bloom filters."""

"""What a broker can be configured with: settings, limits, and what a selector costs."""

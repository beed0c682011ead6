"""The configuration of a broker: settings, limits and the cost of a selector."""

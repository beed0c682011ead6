"""Where each selector goes in a segment: axes, plans and the selectivity they are based on."""

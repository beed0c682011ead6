"""The broker: subscriptions, matching, delivery, requests."""

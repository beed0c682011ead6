"""Matching: from events to ranks, from ranks to answers."""

"""Composite subscriptions: `FIRST … THEN …`, a small state per key over matches of the steps.

`state_machine` is one sequence with one key, without side effects; `key_states` is one sequence
with all its keys; `sequence_engine` is all sequences of a matcher. docs/guides/language.md defines
what they mean, and tests compare them with `tamis.language.sequence_oracle`.
"""

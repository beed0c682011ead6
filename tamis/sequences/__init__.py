"""Composite subscriptions: `FIRST … THEN …`, as a little state per key over matches of the steps.

`machine` is one sequence with one key, pure; `keyed` one sequence with all its keys; `engine` all
sequences of a matcher. What docs/guides/language.md says of them is checked against
`tamis.language.sequence_oracle`.
"""

"""The same rules and events through what a user would pick instead of Tamis.

One file per peer or family of peers; `catalogue.py` names them all, `running.py` runs them,
`work.py` is what they are given. Peers in other languages have a tiny driver in `drivers/`.
"""

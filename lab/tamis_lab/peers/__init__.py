"""Other tools that a user might choose instead of Tamis, run on the same rules and events.

There is one module per peer or family of peers. `peer_catalogue.py` lists them, `contest.py` runs
them, `peer_workload.py` holds their input. Peers in other languages have a small driver in
`drivers/`.
"""

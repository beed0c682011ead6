"""A network of brokers as a Spark job: which interests are exchanged, and where events go.

Counts are exact, not sampled or estimated: they equal those of `tamis_lab.simulation.network`,
which sends every message, and the tests compare them. The job is cheap because everything follows
from sets. Events are matched against the *different* interests once; the demand for an event, by
link, is a sum over a tree; and only the false positives of filters are examined one by one.

    interests.py         the different interests, split into conjunctions of predicates
    coverers.py          which of them cover which
    demand.py            which brokers want which interests
    link_tables.py       what is exchanged over each link, and stored in each table
    filter_layout.py     the bits of predicates
    event_walk.py        events, hop by hop
    shared_files.py      what workers need, in a folder
    simulation_job.py    tables in, tables out
    local_simulation.py  the same in one process
    broker_table.py      a table of brokers, as a network
    findings.py          results by network and strategy
"""

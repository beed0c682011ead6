"""A network of brokers as a Spark job: who is told what, and which way events go, counted exactly.

Nothing here is drawn or estimated: the counts are those of `tamis_lab.simulation.network`, which
sends every message, and the tests hold them against it. What makes it cheap is that all of it
follows from sets. Events are held against the *different* interests once; who wants an event,
by link, are sums over a tree; and what a filter claims in vain is looked at alone.

    interests.py   the different interests, taken apart into conjunctions of predicates
    coverers.py    which of them cover which
    tables.py      what is told over which link, and stands in whose table
    filters.py     the bits of predicates
    walking.py     events, hop by hop
    stored.py      all that workers need, in a folder
    job.py         tables in, tables out
    brokers.py     a table of brokers, as a network
    findings.py    what came out, by network and strategy
"""

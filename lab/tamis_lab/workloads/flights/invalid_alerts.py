"""Invalid alerts of the kinds that people write, to show how they are rejected."""

from __future__ import annotations

BROKEN = (
    # Not selectors.
    "origin = 'JFK' AND",
    "origin = 'JFK AND dest = 'LAX'",
    "dep_delay >> 30",
    "(origin = 'JFK' OR origin = 'LGA' AND dest = 'BOS'",
    "dest IN ('BOS', 'DCA'",
    "dest IN ()",
    "hour BETWEEN 8 OR 11",
    "30 < dep_delay < 60",
    "AT LEAST 4 OF (dep_delay > 60, weather.visib < 1, weather.precip > 0.1)",
    "carier LIKE UA",
    "time > TIMESTAMP '2013-02-30 08:00:00'",
    "tailnum = \"N14228\"",
    "contians(to.name, 'Intl')",
    # Valid selectors, but not for the schema of these events.
    "carier = 'UA' AND dep_delay > 60",
    "departure_delay > 60",
    "dep_delay > '60'",
    "weather.visib = 'poor'",
    "origin = 1",
    "time > '2013-07-04'",
    "dep_time = NULL",
)  # fmt: skip

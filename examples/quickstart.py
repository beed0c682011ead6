"""Tamis in a minute: run it with `python examples/quickstart.py`."""
# ruff: noqa: T201

from pathlib import Path

import tamis
from tamis.events.files import read_events
from tamis.events.subscription_files import read_subscriptions

HERE = Path(__file__).parent

# A subscription is a selector (what may stand after WHERE) with an id and, if you like, a priority.
m = tamis.Matcher()
m.add("cheap-pcs", "company IN ('IBM', 'Dell') AND price <= 1000", priority=2)
m.add("any-ibm", "company = 'IBM'")
m.add("no-stock", "stock IS NULL OR stock = 0")

print("one event:   ", m.match({"company": "IBM", "price": 900, "stock": 4}))
print("the next:    ", m.match({"company": "Dell", "price": 1200}))

# Why not? Every node of the selector with its truth and what it saw.
print()
print(m.explain("cheap-pcs", {"company": "Dell", "price": 1200}))

# Subscriptions come and go at any time.
m.replace("cheap-pcs", "price <= 1500")
m.remove("any-ibm")
print()
print("after change:", m.match({"company": "Dell", "price": 1200}))

# With a schema, a selector that makes no sense is refused when it is added, and text becomes a
# TIMESTAMP where the schema says so.
shop = tamis.Matcher(schema=tamis.Schema.read(HERE / "schema.json"))
try:
    shop.add("typo", "categroy = 'laptop' AND price < 500")
except tamis.TamisError as error:
    print()
    print(error)

# Files: many subscriptions, many events, in batches.
added = shop.add_many(row[:3] for row in read_subscriptions(HERE / "subscriptions.jsonl"))
print()
print(f"{added.count} subscriptions for a shop; its offers match:")
for numbers, batch, _ in read_events(HERE / "events.jsonl", schema=shop.schema):
    matches = shop.match_batch(batch)
    for number, row, ids in zip(numbers, batch.rows(), matches.per_event(), strict=True):
        print(f"{number:3}  {row['product']:24}{', '.join(map(str, ids))}")
    print("the busiest: ", max(matches.counts().items(), key=lambda item: item[1]))

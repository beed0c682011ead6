"""The brokers over HTTP: subscriptions, events, deliveries, and what explains them.

`endpoints` is the table of all that can be asked; `app` makes a web application of it and `openapi`
its description. Handlers stand in `subscribing`, `publishing`, `delivering`, `analysing` and
`telling`, and have a `desk` before them: the brokers, the users, the limits. `running` listens.
"""

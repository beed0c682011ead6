"""The HTTP gateway of the brokers: subscriptions, events, deliveries, explain and lint.

`endpoints` is the table of all endpoints. `app` builds the web application from it, and `openapi`
its description. The handlers are in the `*_handlers` modules and share a `GatewayContext`: the
broker, the users and the limits. `http_server` listens.
"""

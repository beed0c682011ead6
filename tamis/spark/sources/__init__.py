"""The data source `tamis`: broker events and deliveries as tables and streams, and the sink."""

"""Match tables and streams of events against an index."""

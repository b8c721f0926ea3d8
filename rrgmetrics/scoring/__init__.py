"""Metrics made ready and run: names to results, in one process, several, or a stream."""

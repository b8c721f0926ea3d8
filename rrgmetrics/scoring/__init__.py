"""Prepares metrics and runs them, in one process, in several, or on a stream."""

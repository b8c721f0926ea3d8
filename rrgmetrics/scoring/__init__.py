"""Prepares and runs metrics, in one process, in several, or on a stream."""

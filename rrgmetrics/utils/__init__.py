"""Utilities of all layers: formatting of messages, progress lines, child processes, optional packages."""

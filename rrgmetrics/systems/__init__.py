"""Compares systems on the same studies."""

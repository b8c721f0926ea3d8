"""Baselines for scores: trivial systems, skill, collapse, subsets of studies."""

"""Baselines for scores: trivial systems, skill, diversity of reports, subsets of studies."""

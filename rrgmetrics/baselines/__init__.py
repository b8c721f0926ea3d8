"""What a score is worth: trivial systems, skill, collapse, subsets of studies."""

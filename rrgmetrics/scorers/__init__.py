"""One file per metric: texts and annotations → statistics of each pair → scores."""

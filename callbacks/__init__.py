"""Training-loop side of rrgmetrics; installed as `rrgmetrics.callbacks`."""

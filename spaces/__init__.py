"""Browser side of rrgmetrics; installed as `rrgmetrics.spaces`."""

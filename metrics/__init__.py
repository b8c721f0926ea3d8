"""The `evaluate` modules, one folder a metric; installed as `rrgmetrics.metrics` so that they load without a checkout."""

"""The `evaluate` modules, one folder a metric; installed as `rrgmetrics.metrics`, so they load without a checkout."""

from rrgmetrics.spaces import metric_space

metric_space("temporal_f1").launch()

from rrgmetrics.spaces import metric_space

metric_space("finding_errors").launch()

from rrgmetrics.spaces import metric_space

metric_space("crepe").launch()

from rrgmetrics.spaces import metric_space

metric_space("radgraph_f1").launch()

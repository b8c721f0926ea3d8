from rrgmetrics.spaces import launch

launch("radgraph_f1")

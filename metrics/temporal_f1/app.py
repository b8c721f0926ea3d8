from rrgmetrics.spaces import launch

launch("temporal_f1")

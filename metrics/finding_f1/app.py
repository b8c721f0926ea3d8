from rrgmetrics.spaces import launch

launch("finding_f1")

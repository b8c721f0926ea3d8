from rrgmetrics.spaces import launch

launch("green")

from rrgmetrics.spaces import launch

launch("crimson")

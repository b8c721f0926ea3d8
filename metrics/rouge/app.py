from rrgmetrics.spaces import launch

launch("rouge")

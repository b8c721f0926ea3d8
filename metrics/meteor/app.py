from rrgmetrics.spaces import launch

launch("meteor")

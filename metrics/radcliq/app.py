from rrgmetrics.spaces import launch

launch("radcliq")

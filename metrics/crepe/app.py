from rrgmetrics.spaces import launch

launch("crepe")

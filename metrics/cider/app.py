from rrgmetrics.spaces import launch

launch("cider")

from rrgmetrics.spaces import launch

launch("ratescore")

from rrgmetrics.spaces import launch

launch("radfact")

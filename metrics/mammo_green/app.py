from rrgmetrics.spaces import launch

launch("mammo_green")

from rrgmetrics.spaces import launch

launch("semb_score")

from rrgmetrics.spaces import launch

launch("bertscore")

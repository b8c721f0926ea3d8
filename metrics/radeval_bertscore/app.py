from rrgmetrics.spaces import launch

launch("radeval_bertscore")

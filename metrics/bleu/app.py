from rrgmetrics.spaces import launch

launch("bleu")

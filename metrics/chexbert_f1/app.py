from rrgmetrics.spaces import launch

launch("chexbert_f1")

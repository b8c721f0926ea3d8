from rrgmetrics.spaces import launch

launch("nodule_f1")

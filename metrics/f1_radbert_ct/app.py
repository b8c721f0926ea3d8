from rrgmetrics.spaces import launch

launch("f1_radbert_ct")

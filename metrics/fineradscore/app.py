from rrgmetrics.spaces import launch

launch("fineradscore")

from rrgmetrics.spaces import launch

launch("chexprompt")

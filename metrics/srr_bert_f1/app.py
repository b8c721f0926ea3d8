from rrgmetrics.spaces import launch

launch("srr_bert_f1")

"""One file per metric, or a folder with its prompts: texts and annotations → statistics of each pair → scores.

A metric is in three places: its row in `rrgmetrics.specs`, its file or folder here, and its card,
`metrics/<name>/README.md`. The other files of `metrics/<name>/` are generated from the row and the card.
"""

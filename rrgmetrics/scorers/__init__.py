"""One file per metric, or a folder with its prompts: computes statistics of each pair, and scores from statistics.

A metric consists of its row in `rrgmetrics.specs`, its file or folder here, and its card, `metrics/<name>/README.md`.
The other files of `metrics/<name>/` are generated from the row and the card.
"""

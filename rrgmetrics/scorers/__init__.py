"""One file per metric, or a folder with its prompts: texts and annotations → statistics of each pair → scores."""

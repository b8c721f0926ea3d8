"""Edits of reports: inserted errors (`perturb`), paraphrases (`paraphrase`) and irrelevant phrases (`distractors`)."""

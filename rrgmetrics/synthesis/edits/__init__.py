"""Edits of reports: errors put in (`perturb`), other words (`paraphrase`), words that say nothing (`distractors`)."""

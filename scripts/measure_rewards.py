"""Measures what one wrong word does to each reward: writes `rrgmetrics/metaeval/rewards.yaml`.

    python scripts/measure_rewards.py   # or: make rewards; about a minute

Each change is made to one invented report. The page "What a reward sees" shows the numbers (`make docs`).
"""

from __future__ import annotations

from pathlib import Path

import yaml

from rrgmetrics.callbacks import make_reward
from rrgmetrics.version import VERSION

TARGET = Path(__file__).parents[1] / "rrgmetrics" / "metaeval" / "rewards.yaml"
REFERENCE = (
    "Small right pleural effusion, new since the prior study. No pneumothorax. There is an 8 mm nodule in the left "
    "upper lobe. The tip of the endotracheal tube is 4 cm above the carina. The heart size is normal."
)
CHANGES = {  # what is done: the words, and what stands in their place
    "other words, same findings": ("The heart size is normal.", "No cardiomegaly."),
    "a negation left out": ("No pneumothorax.", "There is a pneumothorax."),
    "a finding denied": ("There is an 8 mm nodule in the left upper lobe.", "There is no nodule."),
    "the other side": ("right pleural", "left pleural"),
    "another size word": ("Small right", "Large right"),
    "another measurement": ("8 mm", "28 mm"),
    "the tube too low": ("4 cm above the carina", "in the right main bronchus"),
    "the change turned round": ("new since the prior study", "resolved since the prior study"),
    "a sentence left out": ("There is an 8 mm nodule in the left upper lobe. ", ""),
}
WHOLE = {"a normal report": "No acute cardiopulmonary abnormality.", "an empty report": ""}
REWARDS = (
    *("finding_score", "finding_errors", "crepe", "green", "crimson", "radgraph_f1", "chexbert_f1", "ratescore"),
    *("bertscore", "rouge", "bleu"),
)
SIGNED = ("bertscore",)  # has no worst value that a unit could begin at


def main() -> None:
    """Scores every changed report with every reward, 0 (worst) to 1 (best)."""
    changed = {what: REFERENCE.replace(*words) for what, words in CHANGES.items()}
    if missing := [what for what, text in changed.items() if text == REFERENCE]:
        raise ValueError(f"the reference lacks the words of {missing}")
    candidates = {"the report itself": REFERENCE, **changed, **WHOLE}
    earned = {}
    for name in REWARDS:
        reward = make_reward(name, transform="signed" if name in SIGNED else "unit", baselines="none")
        values = reward(completions=list(candidates.values()), reference=[REFERENCE] * len(candidates))
        earned[name] = [round(float(value), 3) for value in values]
    content = {
        "version": VERSION,
        "reference": REFERENCE,
        "changes": [{"what": what, "words": list(CHANGES.get(what, (text, "")))} for what, text in candidates.items()],
        "rewards": earned,
    }
    head = "# Made by scripts/measure_rewards.py: rewards of one changed report, 0 to 1, in the order of `changes`.\n"
    TARGET.write_text(head + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110), encoding="utf-8")


if __name__ == "__main__":
    main()

"""Is a mentioned finding present, absent or uncertain?

One pass over the sentence: the rules of context_rules.yaml that an item calls for change a small state
(`clause.Clause`), and each finding takes what holds when it is met.
"""

from __future__ import annotations

from itertools import pairwise

from rrgmetrics.reading.clause import Clause, Joint, Scope
from rrgmetrics.reading.context_rules import Rule, rules_for
from rrgmetrics.reading.items import Item, Mention
from rrgmetrics.reading.lexicon import Lexicon
from rrgmetrics.reading.lexicon.rules import HEDGES, JOINED, OPENED
from rrgmetrics.reading.subjects import likewise_from

_JOINTS = {name: Joint(name) for name in JOINED}
_BRACKETS = ("(", ")")
_UNCERTAIN = frozenset({"possible", "not_excluded"})


def apply_cues(items: list[Item], mentions: list[Mention], lexicon: Lexicon) -> None:
    """Sets assertion, certainty and links of every mention by the cues around it, in place."""
    apply_rules(Engine(items, mentions, lexicon))


def apply_rules(engine: Engine) -> None:
    """Applies to the mentions of an engine the rules that its items call for."""
    by_item: dict[int, list[Mention]] = {}
    for mention in engine.mentions:
        by_item.setdefault(mention.at, []).append(mention)
    for i, item in enumerate(engine.items):
        met = by_item.get(i, ())
        for mention in met:
            engine.meet(mention)
        goes_on = bool(met) and engine.or_other_quality(i)  # "the heart is not enlarged OR DISPLACED"
        if met and not goes_on:
            engine.open.pop("absent_once", None)
        if not met or goes_on or "change" in item.senses:
            engine.use_rules(i, rules_for(item, engine.lexicon))


class Engine(Clause):
    """Applies the rules to the state, and the state to each mention."""

    def use_rules(self, i: int, rules: tuple[Rule, ...]) -> None:
        """Uses the first rule of each stage that applies to the item at `i`."""
        used: frozenset[str] = frozenset()
        for rule in rules:
            if rule.stage not in used and self._applies(rule, i):
                self._use(rule, i)
                used |= rule.uses
                if rule.effect == "skip":
                    return

    def _applies(self, rule: Rule, i: int) -> bool:
        if rule.open and not self.holds(rule.open):
            return False
        if rule.direction != "before" and self.start == len(self.clause):
            return False
        if not rule.fits(self.items, i):
            return False
        return all(getattr(self, name)(i) for name in rule.when) and not any(
            getattr(self, name)(i) for name in rule.unless
        )

    def _use(self, rule: Rule, i: int) -> None:
        for opened in rule.closes:
            self.open.pop(opened, None)
        if rule.direction != "before":
            self._judge(rule, i)
        if rule.direction == "after":
            return
        effect = rule.effect
        if effect in HEDGES:
            self._hedge(rule, i)
        elif effect in OPENED:
            start = likewise_from(self.items, i, self.small) if rule.direction == "both" else i
            self.open[effect] = Scope(rule, start, len(self.clause))
            self.joint = Joint.NONE if effect == "absent" else self.joint
        elif effect in _JOINTS:
            self.join(_JOINTS[effect])
        elif effect == "end":
            self.end_clause()
        elif effect == "statement":
            self.start, self.verb_at = len(self.clause), -1
        elif effect == "verb":
            self.verb_at = i
            if self.clause:
                self.close("verb")
        if rule.link or (rule.link is False and self.joint is Joint.LINK):
            self.joint = Joint.LINK if rule.link else Joint.NONE

    def _hedge(self, rule: Rule, i: int) -> None:
        """Opens a certainty; a hedge ends what is denied as its subject: "ABSENCE OF EFFUSION suggests pneumonia"."""
        if rule.link is None and self.is_subject_of_hedge():
            self.end_clause()
        self.open["hedge"] = Scope(rule, i, len(self.clause))
        if rule.link is None and self.is_explaining(i):
            self.joint = Joint.LINK

    def meet(self, mention: Mention) -> None:
        """Gives a mention what holds at the moment."""
        before = self.clause[-1] if self.clause else None
        if before is not None and before.tokens == mention.tokens and mention.tokens[1] - mention.tokens[0] == 1:
            mention.link = before  # "KYPHOSCOLIOSIS" is one observation
        scope = self.deciding(mention)
        effect = scope.rule.effect if scope else ""
        if mention.denies:
            mention.assertion = "present" if effect.startswith("absent") or effect == "resolved" else "absent"
            if mention.assertion == "present":
                mention.dropped = True  # "not normal" says nothing exact
        elif effect in ("hypothetical", "assessed"):
            mention.dropped = True
        elif (effect.startswith("absent") and not self.is_host(mention)) or self.is_unseen(mention):
            mention.assertion = "absent"
        elif scope and effect == "resolved":
            mention.assertion, mention.change = "absent", scope.rule.change
        else:
            self._assert(mention, before, self.open.get("hedge"))
        self.clause.append(mention)
        self.met_at, self.joint = mention.last, Joint.NONE

    def _assert(self, mention: Mention, before: Mention | None, scope: Scope | None) -> None:
        """Takes a mention for there, as certain as a hedge has it, and links it with what it explains."""
        mention.certainty = scope.rule.effect if scope else "definite"
        mention.assertion = "uncertain" if mention.certainty in _UNCERTAIN else "present"
        if before is None or before.assertion == "absent" or before.dropped or before.denies or mention.elided:
            return
        if self.joint is Joint.LINK or self.listing:
            mention.link = self.interpreted(mention)
        elif self.joint is Joint.WITH and self.is_shown(before, mention):
            mention.link = before
        elif self.joint is Joint.VERSUS and self.same_picture(before, mention):
            mention.link = before
            if before.certainty == mention.certainty in ("definite", "probable"):
                seen = [each for each in (before, mention) if each.concept in self.lexicon.roles["replaceable"]]
                for each in (before, mention):
                    if len(seen) != 1 or each not in seen:  # "opacified hemithorax or collapse": the former is seen
                        each.certainty = "suspected"

    def _judge(self, rule: Rule, i: int) -> None:
        """Lets a cue judge the findings before it."""
        if rule.effect in HEDGES:
            self._judge_certainty(rule, i)
            return
        for mention in self._judged(rule, i):
            if rule.effect == "dropped":
                mention.dropped = True
            elif mention.denies:
                continue
            elif rule.effect == "stays":
                mention.assertion, mention.course = "present", "stable"
            elif rule.effect == "resolved" and mention.at != i:  # "the mass HAS BEEN RESECTED" is a resection
                mention.assertion, mention.change = "absent", rule.change
            elif rule.effect == "normal" and self.is_device(mention):
                continue
            elif rule.effect in ("absent", "normal") and not self.is_host(mention):
                mention.assertion = "absent"

    def _is_contrasted(self, mention: Mention, i: int) -> bool:
        """Whether the cue at `i` contrasts with what was stated of a finding: "not seen BUT it remains POSSIBLE"."""
        return any(item.word in self.small.contrasts for item in self.items[mention.last : i])

    def _judged(self, rule: Rule, i: int) -> list[Mention]:
        """Returns the mentions that a rule judges."""
        stated = self.statement()
        if rule.reach in ("statement", "last"):
            return stated[-1:] if rule.reach == "last" else stated
        if rule.effect != "resolved":
            return self.subject(i, denied=rule.effect not in HEDGES)
        judged = self.subject(i, denied=all(m.denies or self.is_device(m) for m in stated))
        return judged + [mention.link for mention in judged if mention.link and mention.link not in judged]

    def _in_brackets(self, i: int, judged: list[Mention]) -> list[Mention]:
        """Returns those of the mentions that share the brackets of the cue at `i`: "opacity (INFECTION OR BLOOD?)"."""
        opened = next((k for k in range(i - 1, -1, -1) if self.items[k].word in _BRACKETS), -1)
        inner = [mention for mention in judged if mention.first > opened >= 0 and self.items[opened].word == "("]
        return inner or judged

    def _judge_certainty(self, rule: Rule, i: int) -> None:
        certainty, judged = rule.effect, self._in_brackets(i, self._judged(rule, i))
        cut = len(judged) < len(self.statement())
        for mention in judged:
            doubts = cut or certainty == "not_excluded" or self._is_contrasted(mention, i)
            if not mention.denies and (mention.assertion != "absent" or doubts):
                mention.certainty = certainty
                mention.assertion = "uncertain" if certainty in _UNCERTAIN else "present"
        if rule.link:
            for one, other in pairwise(judged):
                other.link = other.link or one
        if cut and len(judged) == 1 and not judged[0].link:
            judged[0].link = self.described(judged[0])

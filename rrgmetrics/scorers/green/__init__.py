"""GREEN: matched findings / (matched findings + significant errors), as a judge counts them.

Ostmeier et al. 2024, Findings of EMNLP; code Stanford-AIMI/GREEN d72c195. With m matched findings and s significant
errors, GREEN = m / (m + s), and 0 where nothing matches. Insignificant errors do not enter. A pair whose reply cannot
be read is unscored; where only the insignificant errors cannot be read, the keys that need them are NaN.

Differs from the authors: the default parser (`parsers.tolerant`) never takes a lost section for no errors; the
question does not share 2048 tokens with the answer; only what was generated is decoded. `parser=strict` scores replies
as the authors' code does.

Bundled: the findings that both reports have are matched (a wrong place or severity is an error of its own), and so is,
once for all of them, what the reference calls normal, if the candidate contradicts none of it and is not silent. What
the candidate leaves out of a matched finding is a part of an error (`rrgmetrics.comparing.omissions`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rrgmetrics.backends.compared_pairs import Compared
from rrgmetrics.judges.base import Message, Prompt, engine_for
from rrgmetrics.judges.protocols.counts import CATEGORIES, Errors, add, compared_errors
from rrgmetrics.judges.protocols.statements import matched_words
from rrgmetrics.judges.protocols.templates import Prompts
from rrgmetrics.reports import Pair
from rrgmetrics.scorers.green import parsers
from rrgmetrics.scorers.green.parsers import LABELS, MATCHED, TITLES, GreenVerdict
from rrgmetrics.scorers.judged import JudgeScorer
from rrgmetrics.specs import keys_of
from rrgmetrics.utils.text_format import counted

PROMPTS = Prompts("rrgmetrics.scorers.green")
CHECKPOINT = "StanfordAIMI/GREEN-radllama2-7b"
WORDS = 300  # of each report; the authors' max_len
MAX_TOKENS = 1024
# What the authors' chat template makes of one question at inference: an empty assistant turn stands before the answer.
RAW = "<|user|>\n{prompt}{end}\n<|assistant|>\n{end}\n<|assistant|>\n"


class Checkpoint(NamedTuple):
    """A model that GREEN's authors have published.

    Attributes:
        repository: On the Hub.
        end: The token with which its tokenizer ends a text.
    """

    repository: str
    end: str


CHECKPOINTS: Mapping[str, Checkpoint] = {  # by configuration
    "paper": Checkpoint(CHECKPOINT, "</s>"),
    "small": Checkpoint("StanfordAIMI/GREEN-RadPhi2", "<|endoftext|>"),
    "multimodal": Checkpoint("StanfordAIMI/GREEN-MM-RadLLaMA-7b", "</s>"),
    "small_multimodal": Checkpoint("StanfordAIMI/GREEN-Gemma-2b-MM", "<eos>"),
}


def checkpoint_of(config: str) -> Checkpoint | None:
    """The published model that a configuration names, or that a Hub id or folder of the same name is a copy of.

    Example:
        >>> checkpoint_of("small").repository, checkpoint_of("models/green-radphi2").end, checkpoint_of("openai:m")
        ('StanfordAIMI/GREEN-RadPhi2', '<|endoftext|>', None)
    """
    if config in CHECKPOINTS:
        return CHECKPOINTS[config]
    engine = engine_for(config)
    model = engine.model.lower() if engine.kind in ("hf", "vllm") else ""
    of_name = (each for each in CHECKPOINTS.values() if each.repository.rpartition("/")[2].lower() in model)
    return next(of_name, None)


@dataclass(frozen=True)
class GreenProtocol:
    """The protocol of GREEN.

    Attributes:
        parser: "tolerant" or "strict".
        template: "green", or "crepe_labels": the question of CREPE's authors (Cho et al. 2025, A.1.2), which is GREEN's
            with one sentence more and without indents.
        paper: The engine of the published model that is asked as its authors ask it.
        end: The token with which that model's tokenizer ends a text.
    """

    parser: str = "tolerant"
    template: str = "green"
    name: str = "green"
    version: int = 1
    paper: str = f"hf:{CHECKPOINT}"
    end: str = "</s>"

    @property
    def facts(self) -> Mapping[str, str]:
        """The facts for the signature: the checksum of the prompt."""
        return {"prompt": PROMPTS.digits(self.template)}

    def prompts(self, pair: Pair) -> tuple[Prompt, ...]:
        """Returns the one prompt, as the checkpoint was trained on it."""
        text = question(pair.reference, pair.candidate, self.template)
        raw = RAW.replace("{end}", self.end).replace("{prompt}", text)
        return (Prompt((Message("user", text),), f"green@{self.version}", max_tokens=MAX_TOKENS, raw=raw),)

    def is_cut(self, pair: Pair) -> bool:
        """Whether a report has more words than the question holds."""
        return any(len(text.split()) > WORDS for text in (pair.reference, pair.candidate))

    def follow_up(self, pair: Pair, replies: Sequence[str]) -> tuple[Prompt, ...]:
        """Returns no further prompt."""
        return ()

    def verdict(self, pair: Pair, replies: Sequence[str]) -> GreenVerdict:
        """Reads the reply; raises VerdictError if a section is lost (tolerant parser only)."""
        verdict: GreenVerdict = getattr(parsers, self.parser)(replies[0])
        return verdict

    def written(self, verdict: GreenVerdict) -> str:
        """Returns the reply that is read as this verdict, in the form that the prompt asks for."""
        errors = verdict.significant, verdict.insignificant or Errors((0,) * len(LABELS))
        said = [words for each in verdict.significant.words for words in each]
        number = f"The candidate has {counted(round(verdict.significant.total), 'clinically significant error')}."
        parts = [("Explanation", verdict.explanation or " ".join(said) or number)]
        parts += [(title, _lines(each)) for title, each in zip(TITLES, errors, strict=False)]
        parts.append((MATCHED, _number(verdict.n_matched, verdict.matched)))
        return "\n\n".join(f"[{title}]:\n{text}" for title, text in parts)

    def from_comparison(self, pair: Pair, compared: Compared) -> GreenVerdict:
        """Returns the reader's errors and matches as a verdict."""
        comparison, matched = compared.comparison, matched_words(compared)
        return GreenVerdict(
            compared_errors(comparison, significant=True),
            compared_errors(comparison, significant=False),
            len(matched),
            matched,
        )


def _lines(errors: Errors) -> str:
    rows = zip(LABELS, errors.counts, errors.words, strict=True)
    return "\n".join(f"{label}: {_number(count, words)}" for label, count, words in rows)


def _number(count: float, words: Sequence[str]) -> str:
    said = "; ".join(" ".join(text.replace(";", ",").split()).rstrip(".") for text in words)
    return f"{count:g}. {said}".rstrip()


def question(reference: str, candidate: str, template: str = "green") -> str:
    """Returns the authors' prompt: the first 300 words of each report, set in their template."""
    cut = (" ".join(text.split()[:WORDS]) for text in (reference, candidate))
    return PROMPTS.fill(template, **dict(zip(("reference", "candidate"), cut, strict=True)))


KEYS = keys_of("green")


@dataclass(frozen=True)
class Green(JudgeScorer):
    """GREEN by the engine that `config` names; `engine` holds that engine's options."""

    keys = KEYS

    parser: str = "tolerant"

    @property
    def protocol(self) -> GreenProtocol:
        """The protocol: the prompts, and the parser of the replies."""
        published = checkpoint_of(self.config)
        if published is None:
            return GreenProtocol(self.parser)
        return GreenProtocol(self.parser, paper=f"hf:{published.repository}", end=published.end)

    @property
    def engine_config(self) -> str:
        """The configuration as engines know it: the named checkpoints are asked as the paper's is."""
        return "paper" if self.config in CHECKPOINTS else self.config

    @staticmethod
    def row(verdict: GreenVerdict) -> list[float]:
        """Returns the values of a verdict in the order of `KEYS`."""
        significant = verdict.significant.counts
        everything: Sequence[float] = [np.nan] * len(CATEGORIES)
        if verdict.insignificant is not None:
            everything = add(significant, verdict.insignificant.counts)
        return [verdict.score, sum(significant), sum(everything), verdict.n_matched, *everything, *significant]

"""Metrics of wording."""

from __future__ import annotations

from rrgmetrics.specs.model import Config, Key, MetricSpec, Option
from rrgmetrics.specs.shared import TEXT_OPTION, unit

LEXICAL = (
    MetricSpec(
        name="bleu",
        title="BLEU",
        summary="n-gram overlap; COCO's arithmetic (default) or sacrebleu's",
        scorer="rrgmetrics.scorers.bleu:Bleu",
        keys=(
            unit("bleu", "BLEU-4", "BLEU", "BLEU-4", "B-4"),
            unit("bleu_1", "BLEU-1", "BLEU-1", "B-1"),
            unit("bleu_2", "BLEU-2", "BLEU-2", "B-2"),
            unit("bleu_3", "BLEU-3", "BLEU-3", "B-3"),
        ),
        level="corpus",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "tokenizer": Option(
                "coco",
                "coco: whitespace tokens and the COCO caption arithmetic, which RRG papers and RadEval report; "
                "13a: sacrebleu's tokens and smoothing",
                ("coco", "13a"),
                implies={"13a": {"smoothing": "exp"}},
            ),
            "smoothing": Option(
                "coco",
                "value of an order without matching n-grams. coco: coco-caption's constants (implied by coco's "
                "tokens); exp: halved for each such order, as sacrebleu (implied by 13a); none: BLEU is 0, as "
                "evaluate's own bleu",
                ("coco", "exp", "none"),
            ),
        },
        configs={
            "default": Config("COCO's arithmetic"),
        },
        needs=("tokens",),
        foreign_keywords={
            "max_order": "the keys bleu_1, bleu_2 and bleu_3 are always returned",
            "smooth": (
                "name the metric bleu?tokenizer=13a&smoothing=exp; evaluate's smoothing (add one) is not available"
            ),
            "tokenizer": "name the metric bleu?tokenizer=13a&smoothing=none for the result of evaluate's bleu",
        },
        paper="Papineni et al. 2002, ACL",
        citation="papineni-etal-2002-bleu",
        hacks=("repetition", "template", "contradiction", "constant", "addition"),
    ),
    MetricSpec(
        name="rouge",
        title="ROUGE",
        summary="unigrams, bigrams and longest common subsequence",
        scorer="rrgmetrics.scorers.rouge:Rouge",
        keys=(
            unit("rouge", "ROUGE-L", "ROUGE-L", "RG-L", "R-L", "rougeL"),
            unit("rouge_1", "ROUGE-1", "ROUGE-1", "R-1", "rouge1"),
            unit("rouge_2", "ROUGE-2", "ROUGE-2", "R-2", "rouge2"),
            unit("rouge_l", "ROUGE-L", "ROUGE-L", "RG-L", "R-L", "rougeL"),
        ),
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "flavour": Option(
                "google",
                "google: tokens and F1 of the rouge-score package; coco: whitespace tokens and F with beta 1.2 as "
                "in coco-caption, reported by R2Gen and later papers; coco implies stemmer=no",
                ("google", "coco"),
                implies={"coco": {"stemmer": False}},
            ),
            "stemmer": Option(True, "apply the Porter stemmer to words of more than three letters"),
        },
        configs={
            "default": Config("the formula, with the Porter stemmer"),
        },
        needs=("tokens",),
        foreign_keywords={
            "use_stemmer": (
                "name the metric rouge?stemmer=yes (the default here) or rouge?stemmer=no (evaluate's default)"
            ),
            "rouge_types": "rouge_1, rouge_2 and rouge_l are always returned; rougeLsum is not available",
            "use_aggregator": "pass per_pair=True for the value of each pair",
            "tokenizer": "name the metric rouge?flavour=coco for whitespace tokens",
        },
        paper="Lin 2004, Text Summarization Branches Out",
        citation="lin-2004-rouge",
        hacks=("contradiction", "addition"),
    ),
    MetricSpec(
        name="meteor",
        title="METEOR",
        foreign_keywords=dict.fromkeys(
            ("alpha", "beta", "gamma"), "they have NLTK's values (0.9, 3, 0.5), evaluate's defaults"
        ),
        summary="words, stems and WordNet synonyms (bundled)",
        scorer="rrgmetrics.scorers.meteor:Meteor",
        keys=(unit("meteor", "METEOR", "METEOR", "MTR"),),
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={
            "text": TEXT_OPTION,
            "tokenizer": Option(
                "wordpunct",
                "wordpunct: words and runs of punctuation; whitespace: str.split()",
                ("wordpunct", "whitespace"),
            ),
            "synonyms": Option(True, "also match WordNet synonyms, after exact words and stems"),
            "wordnet": Option(
                "", "folder of WordNet database files; empty: the WordNet 3.0 that ships with rrgmetrics"
            ),
        },
        configs={
            "default": Config("NLTK's algorithm, with the bundled WordNet"),
        },
        needs=("tokens", "wordnet"),
        paper="Banerjee and Lavie 2005, ACL workshop",
        published="METEOR is NLTK's: about twice the value of Java METEOR 1.5, which R2Gen and other papers that use "
        "coco-caption print; do not compare the two.",
        licence="WordNet 3.0 licence (synonyms)",
        citation="banerjee-lavie-2005-meteor",
        hacks=("repetition", "template", "contradiction", "addition"),
    ),
    MetricSpec(
        name="cider",
        title="CIDEr-D",
        summary="n-grams weighted by their rarity in the references",
        scorer="rrgmetrics.scorers.cider:Cider",
        keys=(Key("cider", "CIDEr-D", (0.0, 10.0), True, aliases=("CIDEr", "CIDEr-D")),),
        level="pair",
        empty=(0.0, 0.0, 0.0),
        options={"text": TEXT_OPTION},
        configs={
            "default": Config("the formula"),
        },
        needs=("tokens",),
        corpus_statistics=True,
        no_number="every n-gram of the reference occurs in all references of the call (always so with one pair), "
        "so its weight is 0",
        paper="Vedantam et al. 2015, CVPR",
        citation="vedantam-2015-cider",
        hacks=("repetition", "template", "contradiction"),
    ),
)

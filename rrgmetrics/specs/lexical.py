"""Metrics of wording."""

from __future__ import annotations

from rrgmetrics.specs.model import Config, Key, MetricSpec, Option
from rrgmetrics.specs.shared import TEXT_OPTION, unit

LEXICAL = (
    MetricSpec(
        name="bleu",
        title="BLEU",
        summary="n-grams; COCO's arithmetic (default) or sacrebleu's",
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
                "coco: whitespace tokens and the COCO caption arithmetic that RRG papers and RadEval report; "
                "13a: sacrebleu's tokens and smoothing",
                ("coco", "13a"),
                implies={"13a": {"smoothing": "exp"}},
            ),
            "smoothing": Option(
                "coco",
                "where no n-gram of an order matches. coco: coco-caption's constants (coco's tokens imply it); exp: "
                "halved again and again, as sacrebleu (13a implies it); none: BLEU is 0, as evaluate's own bleu",
                ("coco", "exp", "none"),
            ),
        },
        configs={
            "default": Config("COCO's arithmetic"),
        },
        needs=("tokens",),
        foreign_keywords={
            "max_order": "the keys bleu_1, bleu_2 and bleu_3 are always there",
            "smooth": "name the metric bleu?tokenizer=13a&smoothing=exp; evaluate's own (add one) is not offered",
            "tokenizer": "name the metric bleu?tokenizer=13a&smoothing=none for what evaluate's bleu does",
        },
        paper="Papineni et al. 2002, ACL",
        citation="papineni-etal-2002-bleu",
        hacks=("repetition", "template", "contradiction", "constant", "addition"),
    ),
    MetricSpec(
        name="rouge",
        title="ROUGE",
        summary="words, pairs, longest common subsequence",
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
                "google: the rouge-score package's words and F1; coco: coco-caption's white space tokens and F with "
                "beta 1.2, which R2Gen and those after it report; it implies stemmer=no",
                ("google", "coco"),
                implies={"coco": {"stemmer": False}},
            ),
            "stemmer": Option(True, "Porter stems of words longer than three letters"),
        },
        configs={
            "default": Config("the formula, with Porter's stemmer"),
        },
        needs=("tokens",),
        foreign_keywords={
            "use_stemmer": "name the metric rouge?stemmer=yes (the default here) or rouge?stemmer=no (evaluate's)",
            "rouge_types": "rouge_1, rouge_2 and rouge_l are always there; rougeLsum is not offered",
            "use_aggregator": "pass per_pair=True for the values of the pairs",
            "tokenizer": "name the metric rouge?flavour=coco for white space tokens",
        },
        paper="Lin 2004, Text Summarization Branches Out",
        citation="lin-2004-rouge",
        hacks=("contradiction", "addition"),
    ),
    MetricSpec(
        name="meteor",
        title="METEOR",
        foreign_keywords=dict.fromkeys(
            ("alpha", "beta", "gamma"), "they are NLTK's (0.9, 3, 0.5), as evaluate's are by default"
        ),
        summary="words, stems, WordNet synonyms (included)",
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
            "synonyms": Option(True, "match WordNet synonyms after exact words and stems"),
            "wordnet": Option(
                "", "folder of WordNet database files; empty: the WordNet 3.0 that ships with rrgmetrics"
            ),
        },
        configs={
            "default": Config("NLTK's algorithm, with the WordNet that ships"),
        },
        needs=("tokens", "wordnet"),
        paper="Banerjee and Lavie 2005, ACL workshop",
        licence="WordNet 3.0 licence (synonyms)",
        citation="banerjee-lavie-2005-meteor",
        hacks=("repetition", "template", "contradiction", "addition"),
    ),
    MetricSpec(
        name="cider",
        title="CIDEr-D",
        summary="n-grams weighted by rarity in the references",
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
        no_number="every n-gram of the reference stands in all references of the call, as with a single pair: weight 0",
        paper="Vedantam et al. 2015, CVPR",
        citation="vedantam-2015-cider",
        hacks=("repetition", "template", "contradiction"),
    ),
)

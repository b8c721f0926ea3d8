"""Porter's stemmer (Porter 1980) with NLTK's extensions, its default: equal word by word (tests/parity/test_meteor.py).

NLTK itself would be imported whole for it, with SciPy's statistics and, where it is installed, scikit-learn: a second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

NLTK = "3.10.4"  # whose stems these are; for signatures
UNCHANGED = "canning exceed howe inning news outing proceed sky succeed".split()
IRREGULAR = {word: word for word in UNCHANGED} | {
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "cannings": "canning",
    "innings": "inning",
    "outings": "outing",
}
Rule = tuple[str, str]  # a suffix, and what replaces it
PLURALS = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
STEP_2 = (
    *(("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble")),
    *(("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate")),
    *(("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al")),
    *(("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful")),
)
STEP_3 = (
    *(("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", "")),
)
STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent"),
    *("ion", "ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)


def stem(word: str) -> str:
    """Returns the stem of a word, in lower case."""
    stemmed = word.lower()
    if stemmed in IRREGULAR:
        return IRREGULAR[stemmed]
    if len(word) <= 2:
        return stemmed
    for step in (_step_1a, _step_1b, _step_1c, _step_2, _step_3, _step_4, _step_5):
        stemmed = step(stemmed)
    return stemmed


def _shape(word: str) -> str:
    """A letter for each of the word's: v for a vowel, c for a consonant; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and shape.endswith("c"))
        shape += "v" if is_vowel else "c"
    return shape


def _measure(stem: str) -> int:
    """Porter's m: how often consonants follow vowels."""
    return _shape(stem).count("vc")


def _is_positive(stem: str) -> bool:
    return _measure(stem) > 0


def _ends_short(word: str) -> bool:
    """Whether it ends in consonant, vowel, consonant, the last not w, x or y; or is a vowel and a consonant."""
    shape = _shape(word)
    return (shape.endswith("cvc") and word[-1] not in "wxy") or shape == "vc"


def _replaced(word: str, rules: Sequence[Rule], applies: Callable[[str], bool] = lambda stem: True) -> str:
    """Applies the first rule whose suffix the word has, if what is before the suffix allows it."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            return stem + replacement if applies(stem) else word
    return word


def _step_1a(word: str) -> str:
    return word[:-1] if len(word) == 4 and word.endswith("ies") else _replaced(word, PLURALS)


def _step_1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return _replaced(word, [("eed", "ee")], _is_positive)
    for suffix in ("ed", "ing"):
        stem = word.removesuffix(suffix)
        if stem != word and "v" in _shape(stem):
            return _completed(stem)
    return word


def _completed(stem: str) -> str:
    """What is left of a word without -ed or -ing, with the e that it had or without the letter that was doubled."""
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if len(stem) >= 2 and stem[-1] == stem[-2] and _shape(stem)[-1] == "c":
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _step_1c(word: str) -> str:
    return _replaced(word, [("y", "i")], lambda stem: len(stem) > 1 and _shape(stem)[-1] == "c")


def _step_2(word: str) -> str:
    if word.endswith("alli") and _is_positive(word[:-4]):
        return _step_2(word[:-2])
    if word.endswith("logi"):
        return word[:-1] if _is_positive(word[:-3]) else word
    return _replaced(word, STEP_2, _is_positive)


def _step_3(word: str) -> str:
    return _replaced(word, STEP_3, _is_positive)


def _step_4(word: str) -> str:
    for suffix in STEP_4:
        if word.endswith(suffix):
            stem = word.removesuffix(suffix)
            allowed = _measure(stem) > 1 and (suffix != "ion" or stem[-1] in "st")
            return stem if allowed else word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word

"""When two names are one: what a reader would take for the same, a board does too.

`key` is equal for names that differ in case, width, composition or invisible characters. `look` is equal for names
that a reader confuses: Cyrillic, Greek, Armenian and small capital letters for Latin ones, accents, digits of any
script, 1 I l |, 0 O, rn m, vv w, kinds of dashes. `mixed` finds a word of two scripts, as a disguise is and a name is
not; Latin beside Chinese, Japanese or Korean is usual and passes. Not covered: look-alikes of scripts other than these
(such a word must then be of that script alone), words in another order, other punctuation.
"""

from __future__ import annotations

import re
import unicodedata

# Letters, and the Latin ones that they look like; the usual ones of Unicode's confusables.txt (UTS 39).
LOOKALIKES = (
    ("АВЕКМНОРСТУХІЈЅԌԚԜѴӀЗЬ", "ABEKMHOPCTYXIJSGQWVI3b"),  # Cyrillic
    ("аеорсухіјѕһԁԛԝѵӏкмтнвгпьүҽ", "aeopcyxijshdqwvlkmthbrnbye"),
    ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX"),  # Greek
    ("αβγεηικνορτυχωϲϳ", "abyenikvoptuxwcj"),
    ("ՕՍՏօոհսցզյլ", "OUSonhugqjl"),  # Armenian
    ("ıȷɑɡɩɪʟᴀʙᴄᴅᴇɢʜᴊᴋᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢøđħłŧ", "ijagiilabcdeghjkmnoprstuvwyzodhlt"),  # Latin
    ("‐‑‒–—−", "------"),
)
ALIKE = str.maketrans("01i|", "olll")  # of small letters
INVISIBLE = re.compile(  # shown as nothing, though not of category Cf (Default_Ignorable_Code_Point, Braille's blank)
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
ACCENTS = re.compile("[\u0300-\u036f]")
BESIDE_LATIN = {"LATIN", "CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO"}
_LATIN = {ord(letter): latin for letters, latins in LOOKALIKES for letter, latin in zip(letters, latins, strict=True)}


def key(text: str) -> str:
    r"""NFKC, case-folded, without invisible characters.

    Example:
        >>> key("Ｍｏｄｅｌ\u200b 7B") == key("model 7b")
        True
    """
    visible = "".join(char for char in INVISIBLE.sub("", text) if unicodedata.category(char) not in ("Cf", "Co", "Cn"))
    folded = unicodedata.normalize("NFKC", visible).casefold()
    return " ".join(INVISIBLE.sub("", unicodedata.normalize("NFKC", folded)).split())


def look(text: str) -> str:
    """What a reader sees of a name: equal for names that are confused.

    Example:
        >>> look("СОСА 1") == look("Coca l"), look("Modèle") == look("Modele"), look("Model 1") == look("Model 2")
        (True, True, False)
    """
    latin = unicodedata.normalize("NFKC", text).translate(_LATIN)
    plain = ACCENTS.sub("", unicodedata.normalize("NFD", latin)).translate(_LATIN)
    digits = "".join(char if (value := unicodedata.decimal(char, None)) is None else str(value) for char in plain)
    return key(digits).translate(ALIKE).replace("rn", "m").replace("vv", "w")


def mixed(text: str) -> str:
    """The first word of letters of several scripts, and which; "" if there is none.

    Example:
        >>> mixed("Саreful resident"), mixed("β-VAE"), mixed("模型 7B")
        ("'Саreful' mixes CYRILLIC and LATIN letters", '', '')
    """
    for word in re.split(r"[^\w\u0300-\u036f]|_", unicodedata.normalize("NFKC", text)):
        names = (unicodedata.name(char, "UNKNOWN") for char in word if unicodedata.category(char) in ("Ll", "Lu", "Lo"))
        scripts = sorted({re.split("[ -]", name)[0] for name in names})
        if len(scripts) > 1 and not BESIDE_LATIN.issuperset(scripts):
            return f"{word!r} mixes {' and '.join(scripts)} letters"
    return ""

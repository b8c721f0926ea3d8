"""What language models write around a report: control tokens, roles, a prompt, and their thinking."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rrgmetrics.reports.cleaning.edits import Edit, Step, replacing

# Names that tokens of all families share: begin and end of a sequence, text, turn; padding; masks; pictures; tools.
_NAMES = (
    r"s|[be]o[stpdafcm]|sop|pad|unk|cls|sep|[gs]?mask|inst|sys|img|image|video|audio|endoftext|nul|null|stop"
    r"|(?:unused|extra_id|reserved|pad|sentinel)_?\d{1,5}|(?:\w{1,20}_)?(?:start|begin|end)_?of_?\w{1,30}|\w{1,30}_token"
    r"|(?:im|turn|text)_(?:start|end)|fim_\w{1,10}|tool_calls?"
)
_BRACKETED = (
    r"[BE]O[STPDAFCM]|SOP|PAD|UNK|CLS|SEP|[gsGS]?MASK|INST|SYS|IMG|(?:unused|UNUSED)_?\d{1,5}|TOOL_CALLS|STOP|END"
)
_TOKEN = (
    r"<\|[\w /.:-]{0,60}(?:\|?>|\|?\Z)"  # <|im_end|>; also one in which the text was cut
    rf"|</?(?i:{_NAMES})/?>|<</?SYS>>|\[\|[\w ]{{1,30}}\|\]|\[/?(?:{_BRACKETED})\]"
)
_START = r"(?:<\|(?:im_start|start_header_id|start|header_start|turn|role)\|>|<start_of_turn>|<\|im_role\|>)"
_ROLE = r"(?:assistant|user|system|model|human|tool|developer|ai|bot|gpt|ipython)"
_OTHERS = r"(?:user|system|human|tool|developer)"
_ROLE_NAMES = r"(?:assistant|model|response|output|answer|ai|bot):"  # what a reply may begin with
_ENDED = r"(?:<\|(?:im_end|eot_id|eom_id|end|endoftext|turn_end)\|>|</s>|<end_of_turn>|<eos>)"
_NEXT_TURN = rf"(?s)\A(?!\s*(?:(?:{_TOKEN})\s*)*{_START}).+?{_ENDED}\s*(?P<cut>{_START}.*)"  # behind the report
_ROLE_LINE = r"(?i)\A\s*(?:assistant|model)[ \t]*\n\s*"  # what is left of a turn without its tokens
_THOUGHT = r"(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|rationale)"
_WORDS = re.compile(r"\[/?(?:UNK|MASK)\]|<(?:unk|mask)>", re.IGNORECASE)  # in place of a word
_RUN = re.compile(rf"(?:(?:{_TOKEN})\s*)+")
_ONE = re.compile(_TOKEN)
OPEN = frozenset(  # words that no statement ends with
    "a an the and or nor of in on at to with without from for by no is are was were has have than versus vs as may be "
    "not this these".split()
)
_LAST_WORD = re.compile(r"([A-Za-z]+)[^A-Za-z0-9]*\Z")


def first_control_token(text: str) -> str:
    """Returns the first control token of a chat model or a tokenizer in a text; "" if it has none.

    A prompt at its start counts too, by the name of the role that replies to it.

    Example:
        >>> first_control_token("Small effusion.</s>"), first_control_token("[A] Small effusion < 1 cm.")
        ('</s>', '')
        >>> first_control_token("USER: Describe. ASSISTANT: Small effusion.")
        'ASSISTANT:'
        >>> first_control_token("<think>The heart is large.</think> Cardiomegaly.")
        '<think>'
    """
    found = (_ONE.search(text) or _IS_THINKING.search(text)) if "<" in text or "[" in text else None
    if found:
        return found[0]
    role = re.match(_ROLE_LINE, text)
    *_, name = "", *text[: role.end() if role else _end_of_prompt(text)].split()
    return name


def without_closing_tokens(text: str) -> str:
    """Returns a text without the control tokens at its end, which close a turn or fill a batch.

    Example:
        >>> without_closing_tokens("Small effusion.</s> <pad><pad>"), without_closing_tokens("A small <unk>")
        ('Small effusion.', 'A small <unk>')
    """
    end = len(text.rstrip())
    for token in reversed(list(_ONE.finditer(text))):
        if text[token.end() : end].strip() or _WORDS.fullmatch(token[0]):
            break
        end = token.start()
    return text[:end].rstrip()


def _tokens(text: str) -> Iterator[Edit]:
    """Finds runs of tokens; one between two statements ends the first."""
    for match in _RUN.finditer(text):
        yield Edit(*match.span(), _between(text, match), len(_ONE.findall(match[0])))


def _between(text: str, run: re.Match[str]) -> str:
    """Returns what a run of tokens leaves: the end of a statement where one can be, else a space."""
    start, end = run.span()
    before, following = text[max(0, start - 30) : start].rstrip(), text[end : end + 1]
    if not before or not following:
        return ""
    word = _LAST_WORD.search(before)
    is_open = before[-1] in ",:;(/-" or (word is not None and word[1].lower() in OPEN and before[-1].isalpha())
    space = "" if text[start - 1].isspace() else " "
    if is_open or _WORDS.match(run[0]):
        return space
    if following.isupper() or following in "-*•#|" or before[-1] in ".!?":
        return "\n\n"
    around = _ONE.sub("", text[max(0, start - 100) : start]) + _ONE.sub("", text[end : end + 100])
    return "\n\n" if around.islower() else "\n" if "\n" in run[0] else space


_THINKING = (
    rf"<{_THOUGHT}>.*?(?:</{_THOUGHT}>|\Z)\s*|\A.*?</{_THOUGHT}>\s*|\[THINK\].*?(?:\[/THINK\]|\Z)\s*"
    r"|◁think▷.*?(?:◁/think▷|\Z)\s*"
)
_IS_THINKING = re.compile(rf"</?{_THOUGHT}>|\[THINK\]|◁think▷", re.IGNORECASE)
_OTHER_TURN = rf"(?s){_START}\s*{_OTHERS}\b(?:(?!{_START}).)*(?={_START})"
_ASKER = r"system|user|human|prompter|(?:system|user)_token"
_SPEAKER = rf"<\|(?i:{_ASKER}|assistant|bot|chatbot_token)\|>"  # <|user|>
_SPOKEN = rf"(?s)<\|(?i:{_ASKER})\|>(?:(?!{_SPEAKER}).)*(?={_SPEAKER})"

# A prompt at the start of a text, by the role names that are left of a template: "USER: ... ASSISTANT:", or the names
# alone on their lines, of which the second may be glued to the prompt.
_ASKED = re.compile(
    r"\s*(?:(?P<system>A chat between\b|Below is an? |You are an? |(?:#{1,4} ?)?system ?:)"
    r"|(?P<user>(?:#{1,4} ?)?(?:GPT4 Correct )?(?:user|human|instruction) ?:)|(?P<line>(?:system|user)[ \t]*\n))",
    re.IGNORECASE,
)
_USER = re.compile(r"(?:#{1,4} ?|\b)(?:user|human|instruction) ?:", re.IGNORECASE)
_REPLY = re.compile(r"(?:#{1,4} ?|\b)(?:GPT4 Correct )?(?:assistant|response|gpt|model|bot) ?:\s*", re.IGNORECASE)
_REPLY_LINE = re.compile(r"(?m)(?:(?<![ \t])assistant|^model)[ \t]*$\s*")


def _prompt(text: str) -> Iterator[Edit]:
    """Finds a prompt at the start of a text, with the name of the role that replies to it."""
    end = _end_of_prompt(text)
    if end:
        yield Edit(0, end, "")


def _end_of_prompt(text: str) -> int:
    """Returns where the reply to a prompt begins; 0 for a text that begins with none."""
    end = 0
    while asked := _ASKED.match(text, end):
        at: re.Match[str] | None = asked
        if asked["system"]:
            at = _USER.search(text, asked.end())
        reply = (_REPLY_LINE if asked["line"] else _REPLY).search(text, at.end()) if at else None
        if reply is None:
            break
        end = reply.end()
    return end


CONTROL_TOKENS = (
    replacing("thinking", "<", r"(?s)<\|channel\|>(?:analysis|commentary).*?(?:(?=<\|channel\|>final)|\Z)"),
    replacing("thinking", "<[◁", rf"(?is){_THINKING}", where=_IS_THINKING),
    replacing("prompt", "[", r"(?s)\[INST\](?:(?!\[INST\]).)*?\[/INST\]\s*"),
    replacing("later turn", "<", _NEXT_TURN, where=re.compile(_START)),
    replacing("prompt", "<", _OTHER_TURN),
    replacing("prompt", "<", _SPOKEN),
    replacing("role name", "<", rf"{_START}(?P<cut>\s*{_ROLE}\b:?)(?! */)"),
    replacing("role name", "<", r"<\|channel\|>(?P<cut>final|analysis|commentary)\b"),
    Step("control token", "<[", _tokens),
    Step("prompt", (":", "assistant", "model"), _prompt),
    replacing("role name", ("assistant", "Assistant", "model"), _ROLE_LINE),
    replacing("role name", ":", rf"(?i)\A\s*(?:#{{1,4}} *)?{_ROLE_NAMES}\s*"),
)

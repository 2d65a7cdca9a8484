"""Step 0: take the answer out of its wrapping and say what kind of reply it is.

Removed: thought blocks, code fences, Markdown emphasis, ``\\boxed{}``, lead-ins ("The answer is"), quotes around the
whole, invisible characters, final punctuation. Unified: Unicode by NFKC (powers and fractions keep their meaning),
white space. The case stays, so that the result can be shown; comparing folds it (see ``text.comparable``).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from elical_core.consistency.refusal import is_refusal
from elical_core.domain import AnswerClass

_TAG = r"(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis|seed:think)"
_OPEN = rf"(?:<\s*{_TAG}\s*>|\[{_TAG}\]|◁think▷|<\|channel\|>\s*(?:analysis|commentary)\s*(?:<\|message\|>)?)"
_CLOSE = rf"(?:<\s*/\s*{_TAG}\s*>|\[/{_TAG}\]|◁/think▷|<\|channel\|>\s*final\s*(?:<\|message\|>)?)"
_THOUGHT = re.compile(rf"{_OPEN}.*?{_CLOSE}", re.IGNORECASE | re.DOTALL)
_CLOSED_ONLY = re.compile(rf"^.*{_CLOSE}", re.IGNORECASE | re.DOTALL)  # the prompt had opened the thought
_OPEN_ONLY = re.compile(rf"{_OPEN}.*$", re.IGNORECASE | re.DOTALL)
_SPECIAL_TOKEN = re.compile(
    r"<\|[a-z_]{1,30}\|>|</?s>|<(?:eos|bos|pad|unk|start_of_turn|end_of_turn)>|\[/?INST\]", re.IGNORECASE
)
_FENCE = re.compile(r"```[ \t]*(?:[A-Za-z0-9_+-]*[ \t]*\n)?|~~~[ \t]*(?:[A-Za-z0-9_+-]*[ \t]*\n)?")
_BOXED = re.compile(r"\\(?:boxed|text|mathrm)\{([^{}]*)\}")
_EMPHASIS = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_LEAD_IN = re.compile(
    r"^(?:(?:so|thus|hence|therefore|sure|ok|okay|certainly|of course|well)[,!.:]? +)?"
    r"(?:the |my )?(?:(?:final|correct|right|short|best|most likely) )*answer(?: to (?:the|this|your) question)?"
    r"(?: ?[:：] ?| (?:is|would be|should be|must be)(?: ?[:：] ?| )(?=\S))",
    re.IGNORECASE,
)
_LAST_ANSWER = re.compile(
    r"^.*(?:[.!?。\n] *|#### *)(?:so,? |thus,? |hence,? |therefore,? )?(?:the |my )?(?:final |correct )?"
    r"answer(?: ?[:：] ?| is(?: ?[:：] ?| ))(?=\S)",
    re.IGNORECASE | re.DOTALL,
)
_HASH_ANSWER = re.compile(r"^.*#### *(?=[-+$€£]?\d)", re.DOTALL)  # the form of grade-school word problems
_BULLET = re.compile(r"^(?:[•●▪*>]+\s*|[-–—]\s+(?!\d)|#+\s+)")
_SUPERSCRIPT = re.compile(r"(?<=\d)([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
_FRACTION = re.compile(r"(?<=\d)(?=[¼½¾⅐-⅞↉])")
_QUOTES = dict(zip("\"'“‘«「『„`*‹", "\"'”’»」』“`*›", strict=True))
_FINAL = " \t.,;:!?…。、，；：！？؟۔।·•"
_INVISIBLE = frozenset("\u200b\u2060\ufeff\u00ad\u200e\u200f\u061c" + "".join(map(chr, range(0x202A, 0x202F))))


def without_thought(text: str) -> tuple[str, bool]:
    """The reply without thought blocks, and whether it was cut inside one (then nothing of that block is left)."""
    text = _THOUGHT.sub(" ", text)
    text = _CLOSED_ONLY.sub(" ", text)
    outside = _OPEN_ONLY.sub(" ", text)
    return outside, outside != text


@lru_cache(maxsize=200_000)
def clean(text: str) -> str:
    """The bare answer, case kept; "" when nothing is left. ``clean(clean(x)) == clean(x)``."""
    text, _ = without_thought(_unified(text))
    while (shorter := _unwrapped(_unified(text))) != text:
        text = shorter
    return text


def classify(text: str, *, truncated: bool = False) -> AnswerClass:
    """What kind of reply ``text`` is. ``truncated``: the token limit cut it.

    A reply cut inside its thought is TRUNCATED, and ``clean`` gives "" for it. A refusal stays one when it is cut.
    """
    _, inside_thought = without_thought(_unified(text))
    answer = clean(text)
    if inside_thought and not answer:
        return AnswerClass.TRUNCATED
    if is_refusal(answer) or is_refusal(_unified(text)):
        return AnswerClass.REFUSAL
    if truncated:
        return AnswerClass.TRUNCATED
    return AnswerClass.ANSWER if answer else AnswerClass.EMPTY


def _unified(text: str) -> str:
    """NFKC without its two traps (10² -> 102, 1½ -> 11/2), visible characters only, single spaces."""
    if text.isascii() and text.isprintable():
        return re.sub(r" +", " ", text).strip()
    text = _SUPERSCRIPT.sub(lambda found: "^" + unicodedata.normalize("NFKC", found[1]), text)
    text = unicodedata.normalize("NFKC", _FRACTION.sub(" ", text)).replace("\u2044", "/").replace("\u2212", "-")
    text = "".join(
        " " if unicodedata.category(c) in {"Cs", "Cc"} and c != "\n" else c for c in text if c not in _INVISIBLE
    )
    return re.sub(r"[^\S\n]+", " ", re.sub(r"\s*\n\s*", "\n", text)).strip()


def _unwrapped(text: str) -> str:
    """One layer of wrapping less."""
    text = _SPECIAL_TOKEN.sub(" ", _FENCE.sub(" ", text))
    text = _BOXED.sub(r"\1", _EMPHASIS.sub(r"\2", text))
    text = _HASH_ANSWER.sub("", _LAST_ANSWER.sub("", text))
    text = re.sub(r"\s+", " ", text).strip()
    text = _LEAD_IN.sub("", _BULLET.sub("", text)).rstrip(_FINAL).lstrip(" ,;:!?…。、，；：！？؟۔।·•")
    if len(text) >= 2 and _QUOTES.get(text[0]) == text[-1] and not set(text[1:-1]) & {text[0], text[-1]}:
        text = text[1:-1]
    return text.strip()

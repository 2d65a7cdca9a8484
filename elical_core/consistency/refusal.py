"""Which replies decline to answer.

Patterns stand at the start of the reply or cover all of it, because titles quote the same words ("I'm Sorry" is a
song); they are matched on case-folded text with straight apostrophes.
"""

from __future__ import annotations

import re

_OBJECT = (
    r"(?:answer|provide|help|assist|find|tell you|determine|verify|access|say\b|give you|give an|recall|remember"
    r"|confirm|identify|comply|fulfil|do that|discuss|share|be sure|be certain|accurately|directly|browse|predict"
    r"|speculate)"
)
_STARTS = (
    r"(?:i'm|i am|we are|we're) sorry,? (?:but\b|i\b|there\b|we\b|as\b|no\b|that i\b|this\b|the\b)",
    r"sorry,? (?:but\b|i (?:don't|do not|can't|cannot|am|couldn't)\b|i'm\b|there is no\b)",
    r"(?:unfortunately|apologies|my apologies|i apologi[sz]e)[,.:]? (?:but )?"
    r"(?:i\b|there\b|for\b|we\b|as\b|no\b|this\b)",
    r"as an? (?:ai|artificial intelligence|(?:large )?language model)\b",
    r"i(?:'m| am) (?:just |only )?an? (?:ai|artificial intelligence|(?:large )?language model|text-based)\b",
    r"i(?:'m| am) (?:unable|not able|not sure|not aware|not familiar|not certain|unsure|uncertain|afraid (?:i|that)\b)",
    r"i (?:can't|cannot|can not|could not|couldn't|won't|will not|am unable to) (?:\w+ly )?" + _OBJECT,
    r"i (?:do not|don't|did not|didn't) (?:currently |actually |really )?have (?:any |enough |the |that |this |an? |"
    r"sufficient |specific |personal |real-time |up-to-date |current |direct |reliable )*(?:access|information|data|"
    r"knowledge|answer|details|context|opinion|ability|idea|record|clue)",
    r"i (?:do not|don't|didn't|did not) (?:really |actually )?"
    r"(?:recall|remember|understand) (?:the|that|this|your|who|what)\b",
    r"i have no (?:idea|information|knowledge|clue|data|record|answer|way of knowing)\b",
    r"i (?:would|'d) (?:need|require) more (?:information|context|details)\b",
    r"i (?:really |actually |just )?(?:do not|don't) know(?: (?:the|who|what|which|where|when|whether|if|that|this|"
    r"exactly|about|any|anything|for|enough|his|her|its|their|how (?:many|much|long|old|far|to answer))\b"
    r"|[ ,.;:!]*$|[,.;])",
    r"(?:there is|there's) (?:no|not enough|insufficient) (?:information|data|answer|context|record|way to)\b",
    r"(?:it is|it's) (?:not possible|impossible) to (?:answer|determine|know|say|tell|provide)\b",
    r"(?:the )?(?:question|context|passage|text) "
    r"(?:is unclear|cannot be answered|does not (?:provide|specify|mention|say))",
    r"(?:insufficient|not enough) (?:information|data|context)\b",
    r"(?:please|could you|can you) (?:provide|clarify|give|specify)\b",
    # The same in other languages.
    r"je (?:ne )?(?:sais pas|peux pas|suis désolé)",
    r"désolé,",
    r"no (?:lo )?sé(?:\W|$)",
    r"lo siento,",
    r"ich wei(?:ß|ss) (?:es |das )?(?:leider )?nicht",
    r"(?:es tut mir|tut mir) leid,",
    r"non (?:lo )?so(?:\W|$)",
    r"(?:eu )?não sei(?:\W|$)",
    r"ik weet het niet",
    r"(?:я )?не знаю",
    r"(?:对不起|對不起|抱歉|很抱歉|我不知道|我不清楚|我无法|我無法)",
    r"(?:申し訳|すみません|わかりません|分かりません|知りません)",
    r"(?:죄송|잘 모르|모르겠)",
    r"(?:لا أعرف|لا أعلم|عذر|آسف)",
    r"(?:मुझे नहीं पता|मुझे नहीं मालूम|क्षमा करें)",
)
_WHOLE = (
    r"(?:it is |it's |the answer is |that is |this is )?"
    r"(?:unknown|not known|unclear|undetermined|uncertain|not sure|unsure)",
    r"n/?a|not applicable|no idea|no clue|idk|dunno|i don't know|don't know|do not know"
    r"|no answer|not available|not specified",
    r"(?:the )?(?:answer|information|data|this|it) (?:is not|isn't|cannot be|can't be|could not be) "
    r"(?:known|available|determined|provided|given|specified|answered)",
    r"(?:cannot|can't|could not) (?:be (?:determined|answered|known)|answer|say|determine|tell)(?: .{0,40})?",
    r"不知道|不清楚|不明|未知|不详|无法回答|無法回答|わからない|分からない|모름|모릅니다",
)
_REFUSAL = re.compile(f"^(?:{'|'.join(_STARTS)})|^(?:{'|'.join(_WHOLE)})$")
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'"})


def is_refusal(cleaned: str) -> bool:
    """Whether a cleaned reply declines, says that it does not know, or asks back. False for empty text."""
    return _REFUSAL.match(cleaned.translate(_APOSTROPHES).casefold().rstrip(" .!?,;:。！？")) is not None

"""Step 2, guards: negations, opposite words, formulas with other operators."""

from __future__ import annotations

import re

from elical_core.consistency.pair import Decision, Pair, different, same
from elical_core.consistency.vocabulary import NEGATING_PREFIXES, NEGATIONS, OPPOSITES, STOPWORDS
from elical_core.domain import DecidingStep

_STEP = DecidingStep.TYPED
_OPERATOR = re.compile(r"[*/^=×÷·+<>]|(?<=[\w)]) ?- ?(?=[\w(])")


def opposites(pair: Pair) -> Decision | None:
    """Negation on one side only ("not Paris"), opposite words ("larger", "smaller"), negating prefixes."""
    a, b = pair.a.parsed, pair.b.parsed
    if a.negations % 2 != b.negations % 2:
        rest_a, rest_b = (p.bag - NEGATIONS - STOPWORDS for p in (a, b))
        if rest_a and rest_b and (rest_a <= rest_b or rest_b <= rest_a):
            return different(_STEP, "one of them is negated")
    only_a, only_b = a.bag - b.bag, b.bag - a.bag
    if len(only_a) == len(only_b) == 1:
        (x,), (y,) = only_a, only_b
        if frozenset((x, y)) in OPPOSITES or _negates(x, y) or _negates(y, x):
            return different(_STEP, f"{x} is the opposite of {y}")
    return None


def formulas(pair: Pair) -> Decision | None:
    """The same symbols with other operators (m/a, m*a)."""
    a, b = pair.a.parsed, pair.b.parsed
    if a.bag != b.bag or not (_is_formula(a.text) or _is_formula(b.text)):
        return None
    mine, theirs = (re.sub(r"[\s*×·]", "", p.text) for p in (a, b))
    if mine == theirs:
        return same(_STEP, "the same formula")
    return different(_STEP, "different formulas")


def _negates(longer: str, shorter: str) -> bool:
    return len(shorter) >= 4 and any(longer == prefix + shorter for prefix in NEGATING_PREFIXES)


def _is_formula(text: str) -> bool:
    if re.search(r"[=*×÷^]", text):
        return True
    return bool(_OPERATOR.search(text)) and all(len(w) == 1 for w in re.findall(r"[^\W\d_]+", text))

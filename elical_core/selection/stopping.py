"""When labelling has done its work: one sentence with its reasons (science.md section 9)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from elical_core.config import StageConfig


class AdviceKind(StrEnum):
    CONTINUE = "continue"
    STOP = "stop"
    FUTILE = "futile"


@dataclass(frozen=True, kw_only=True)
class StoppingConfig(StageConfig):
    """``epsilon``: the gain of the next 100 labels that is not worth them (.002 Brier, .003 AUROC)."""

    audit_minimum: int = 60
    train_minimum: int = 100
    remaining_share: float = 0.1
    epsilon: float = 0.002
    shift: float = 0.01
    futile_from: int = 300

    def __post_init__(self) -> None:
        self._between("audit_minimum", 1, 100_000)
        self._between("train_minimum", 1, 100_000)
        self._between("remaining_share", 0, 1)
        self._between("epsilon", 0, 1)
        self._between("shift", 0, 1)
        self._between("futile_from", 1, 1_000_000)


@dataclass(frozen=True, kw_only=True)
class Look:
    """The state of a project at one look.

    ``gain`` over Stage 1 in Brier (above 0 = better) with its anytime lower bound ``gain_low``; ``remaining`` = tr(C
    M), the Brier error that more labels could take away; ``next_gain`` = forecast of what 100 more labels bring;
    ``shift`` = mean |p_n - p_{n-50}| over the pool. None = not known yet.
    """

    train: int
    audit: int
    gain: float | None
    gain_low: float | None
    remaining: float | None
    next_gain: float | None
    shift: float | None


@dataclass(frozen=True, kw_only=True)
class Advice:
    """``sentence`` for the screen; ``met`` and ``open`` are the conditions that hold and that do not, in words."""

    kind: AdviceKind
    sentence: str
    met: tuple[str, ...]
    open: tuple[str, ...]


def conditions(look: Look, config: StoppingConfig) -> list[tuple[bool, str]]:
    """Each condition of the stopping rule, whether it holds, and its state in words."""
    share = None
    if look.gain is not None and look.remaining is not None and look.gain + look.remaining > 0:
        share = look.remaining / (max(look.gain, 0.0) + look.remaining) if look.remaining > 0 else 0.0
    little = share is not None and share <= config.remaining_share
    slow = look.next_gain is not None and look.next_gain < config.epsilon
    left = "the remaining gain is not known yet" if share is None else f"{share:.0%} of the reachable gain is left"
    soon = "no forecast yet" if look.next_gain is None else f"100 more labels would bring {look.next_gain:.4f} Brier"
    bound = (
        "no gain measured yet" if look.gain_low is None else f"the gain over Stage 1 is at least {look.gain_low:.4f}"
    )
    moved = "no earlier head to compare with" if look.shift is None else f"confidences moved by {look.shift:.3f}"
    return [
        (look.audit >= config.audit_minimum, f"{look.audit} of {config.audit_minimum} audit labels"),
        (look.train >= config.train_minimum, f"{look.train} of {config.train_minimum} training labels"),
        (look.gain_low is not None and look.gain_low > 0, bound),
        (little or slow, f"{left}; {soon}"),
        (look.shift is not None and look.shift < config.shift, moved),
    ]


def _futile(look: Look, config: StoppingConfig) -> bool:
    return (
        look.train + look.audit >= config.futile_from
        and look.audit >= config.audit_minimum
        and look.gain is not None
        and look.gain < config.epsilon
        and (look.gain_low is None or look.gain_low <= 0)
        and (look.next_gain is None or look.next_gain < config.epsilon)
    )


def advise(looks: Sequence[Look], config: StoppingConfig | None = None) -> Advice:
    """Stop when every condition holds at two looks in a row; ``looks`` in time order, the last two count.

    Futility: from 300 labels on, when Stage 1 has not been improved on and no improvement is in sight.
    """
    config = config or StoppingConfig()
    if not looks:
        return Advice(kind=AdviceKind.CONTINUE, sentence="Label some questions first.", met=(), open=("no labels yet",))
    now = conditions(looks[-1], config)
    met, missing = (tuple(words for holds, words in now if holds == wanted) for wanted in (True, False))
    if _futile(looks[-1], config):
        sentence = "You can stop: Stage 1 is already calibrated, and more labels are not expected to improve it."
        return Advice(kind=AdviceKind.FUTILE, sentence=sentence, met=met, open=missing)
    if not missing:
        if len(looks) > 1 and all(holds for holds, _ in conditions(looks[-2], config)):
            sentence = f"You can stop: {now[2][1]}, and {now[3][1]}."
            return Advice(kind=AdviceKind.STOP, sentence=sentence, met=met, open=())
        sentence = "Nearly done: everything holds at this look; one more look decides."
        return Advice(kind=AdviceKind.CONTINUE, sentence=sentence, met=met, open=("the second look in a row",))
    return Advice(kind=AdviceKind.CONTINUE, sentence=f"Go on: {missing[0]}.", met=met, open=missing)

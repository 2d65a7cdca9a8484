"""The one table of keys. Pages, the annotation card and the help panel all read it; a test looks for clashes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Act(StrEnum):
    """What a key does on the annotate page."""

    TOGGLE = "toggle"
    SUBMIT = "submit"
    NONE_CORRECT = "none"
    UNSURE = "unsure"
    SKIP = "skip"
    UNDO = "undo"
    CLEAR = "clear"
    REFERENCE = "reference"
    DETAILS = "details"
    HELP = "help"


@dataclass(frozen=True, kw_only=True)
class Shortcut:
    """``key`` is the browser's ``KeyboardEvent.key``, letters in lower case; ``shown`` is the cap on the screen."""

    act: Act
    key: str
    shown: str
    says: str


ANNOTATE: tuple[Shortcut, ...] = (
    Shortcut(act=Act.TOGGLE, key="1-9", shown="1-9", says="tick or untick an answer; with Shift the tenth and on"),
    Shortcut(act=Act.SUBMIT, key="Enter", shown="Enter", says="submit the ticked answers as correct, the rest as not"),
    Shortcut(act=Act.NONE_CORRECT, key="n", shown="N", says="none of the answers is correct"),
    Shortcut(act=Act.UNSURE, key="u", shown="U", says="you cannot tell; counts as a missing label"),
    Shortcut(act=Act.SKIP, key="s", shown="S", says="leave this question to somebody else"),
    Shortcut(act=Act.UNDO, key="z", shown="Z", says="take back your last verdict and see its question again"),
    Shortcut(act=Act.CLEAR, key="0", shown="0", says="untick everything"),
    Shortcut(act=Act.REFERENCE, key="t", shown="T", says="type the correct answer; Enter ticks what means the same"),
    Shortcut(act=Act.DETAILS, key="g", shown="G", says="open or close context, details and guideline"),
    Shortcut(act=Act.HELP, key="?", shown="?", says="show or hide these keys"),
)


def cap(act: Act) -> str:
    """The key cap of one act."""
    return next(shortcut.shown for shortcut in ANNOTATE if shortcut.act is act)

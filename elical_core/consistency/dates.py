"""Dates as answers give them, compared: a day, a month, a year, a decade, a century. Nothing is filled in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum


class Grain(IntEnum):
    """How finely a question asks for time. ``ANY``: "when", no matter how finely."""

    ANY = 0
    YEAR = 1
    MONTH = 2
    DAY = 3
    DECADE = 4
    CENTURY = 5


@dataclass(frozen=True)
class PartialDate:
    """``low``..``high``: years (equal for a single year, BC negative), both None when no year was given.

    ``swapped``: day and month could be the other way round (02/03/1999).
    """

    low: int | None = None
    high: int | None = None
    month: int | None = None
    day: int | None = None
    swapped: bool = False

    @property
    def exact_year(self) -> int | None:
        return self.low if self.low == self.high else None

    def agrees(self, other: PartialDate, grain: Grain = Grain.ANY) -> bool | None:
        """Whether both name the same time at ``grain``; None when one of them is too coarse to tell."""
        years = self._years_agree(other)
        if years is False:
            return self._same_period(other, grain)
        if grain in {Grain.YEAR, Grain.DECADE, Grain.CENTURY}:
            return years if years is not None else self._same_period(other, grain)
        if self.swapped != other.swapped or (self.swapped and (self.month, self.day) != (other.month, other.day)):
            return (
                None if {self.month, self.day} == {other.month, other.day} or None in {self.day, other.day} else False
            )
        for mine, theirs in ((self.month, other.month), (self.day, other.day)):
            if mine is not None and theirs is not None and mine != theirs:
                return False
        if grain is Grain.DAY and (self.day is None) != (other.day is None):
            return None
        if grain is Grain.MONTH and (self.month is None) != (other.month is None):
            return None
        day_and_month = self.day is not None and other.day is not None
        if years is None and not (day_and_month and None in {self.low, other.low}):
            return None if self.low != other.low or self.high != other.high or self.low is None else True
        return True

    def _years_agree(self, other: PartialDate) -> bool | None:
        """None: one has no year, or a period holds the other."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return None
        if self.high < other.low or other.high < self.low:
            return False
        return True if self.low == other.low and self.high == other.high else None

    def _same_period(self, other: PartialDate, grain: Grain) -> bool | None:
        """At decades and centuries two different years may still be the same answer."""
        length = {Grain.DECADE: 10, Grain.CENTURY: 100}.get(grain)
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return None
        if length is None:
            return False if self.high < other.low or other.high < self.low else None
        spans = [(d.low // length, d.high // length) for d in (self, other) if d.low is not None and d.high is not None]
        (a, b), (c, d) = spans
        return a == b == c == d if a == b and c == d else None


def dates_agree(mine: Sequence[PartialDate], theirs: Sequence[PartialDate], grain: Grain) -> bool | None:
    """Compares answers that may name several dates: one against one, or the same number pairwise in any order.

    None when it cannot be told, and when either is empty.
    """
    if not mine or not theirs:
        return None
    table = [[a.agrees(b, grain) for b in theirs] for a in mine]
    if len(mine) == len(theirs):
        if all(any(v is True for v in row) for row in table) and all(
            any(row[j] is True for row in table) for j in range(len(theirs))
        ):
            return True
        if len(mine) == 1:
            return table[0][0]
        return False if any(all(v is False for v in row) for row in table) else None
    return False if all(v is False for row in table for v in row) else None

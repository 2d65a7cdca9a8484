"""Numbers, times and tables as the screen says them."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.components.words import ago, better_word, count, csv_text, duration, share, with_interval

NOW = datetime(2025, 3, 9, 14, 2, 31, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "said"), [(0.8034, ".803"), (1.0, "1.000"), (0.0, ".000"), (-0.0124, "-.012"), (-0.0001, ".000")]
)
def test_share_drops_the_leading_zero(value: float, said: str) -> None:
    assert share(value) == said


def test_share_signed() -> None:
    assert [share(v, signed=True) for v in (0.062, -0.012, 0.0)] == ["+.062", "-.012", "+.000"]


def test_with_interval_says_the_reason_without_a_value() -> None:
    assert with_interval(0.8, 0.7412, 0.86) == ".800 (95% .741 to .860)"
    assert with_interval(0.8, None, None) == ".800"
    assert with_interval(None, None, None, "undefined: one class") == "undefined: one class"
    assert with_interval(None, None, None) == "not measured"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-3, "0 s"), (45.4, "45 s"), (60, "1 min"), (200, "3 min 20 s"), (3600, "1 h"), (7500, "2 h 5 min")],
)
def test_duration_has_two_units(seconds: float, said: str) -> None:
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("back", "said"),
    [
        (timedelta(seconds=10), "just now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=3), "3 h ago"),
        (timedelta(days=2), "2 days ago"),
    ],
)
def test_ago(back: timedelta, said: str) -> None:
    assert ago(NOW - back, NOW) == said


def test_count_and_direction() -> None:
    assert (count(1, "question"), count(1204, "question")) == ("1 question", "1,204 questions")
    assert (better_word("auroc"), better_word("brier")) == ("higher is better", "lower is better")


CELLS = st.one_of(st.text(st.characters(codec="utf-8")), st.text("x,\"\r\n '"))


@given(st.lists(st.fixed_dictionaries({"a": CELLS, "b": CELLS}), min_size=1))
def test_csv_reads_back_cell_by_cell(rows: list[dict[str, str]]) -> None:
    assert list(csv.DictReader(io.StringIO(csv_text(rows), newline=""), strict=True)) == rows


def test_csv_of_nothing_is_empty() -> None:
    assert csv_text([]) == ""

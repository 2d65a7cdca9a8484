"""Numbers, times and names as the screen says them. Pure functions."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

METRICS: Mapping[str, tuple[str, str]] = {
    "auroc": ("AUROC", "chance that a correct answer gets the higher confidence; .5 is guessing, 1 perfect"),
    "brier": ("Brier", "mean squared distance between confidence and correctness; lower is better"),
    "ece": ("ECE", "mean gap between stated and observed accuracy over confidence bins; lower is better"),
    "alignment": ("Alignment", "share of questions on the right side of the answer-or-abstain threshold"),
    "accuracy_at_80": ("Accuracy at 80% coverage", "accuracy when the least confident fifth is left unanswered"),
}
_LOWER_IS_BETTER = {"brier", "ece", "smooth_ece", "nll", "aurc"}


def metric_name(metric: str) -> str:
    return METRICS.get(metric, (metric, ""))[0]


def metric_meaning(metric: str) -> str:
    return METRICS.get(metric, ("", ""))[1]


def better_word(metric: str) -> str:
    """ "higher is better" or "lower is better"."""
    return "lower is better" if metric in _LOWER_IS_BETTER else "higher is better"


def share(value: float, *, signed: bool = False) -> str:
    """Three decimals without the leading zero, as papers print it: .803, -.012, 1.000; ``signed`` writes + too."""
    text = f"{abs(value):.3f}"
    text = text.removeprefix("0")
    sign = "-" if value < 0 and float(f"{value:.3f}") != 0 else "+" if signed else ""
    return sign + text


def with_interval(value: float | None, low: float | None, high: float | None, reason: str = "") -> str:
    """ ".803 (95% .741 to .860)"; the reason in words when there is no value."""
    if value is None:
        return reason or "not measured"
    if low is None or high is None:
        return share(value)
    return f"{share(value)} (95% {share(low)} to {share(high)})"


def duration(seconds: float) -> str:
    """The largest two units: "45 s", "3 min 20 s", "2 h 5 min". Negative counts as zero."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        minutes, rest = divmod(whole, 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, rest = divmod(whole, 3600)
    return f"{hours} h {rest // 60} min" if rest >= 60 else f"{hours} h"


def ago(then: datetime, now: datetime) -> str:
    """ "just now", "5 min ago", "3 h ago", "2 days ago"; both times aware."""
    seconds = (now - then).total_seconds()
    if seconds < 45:
        return "just now"
    if seconds < 5400:
        return f"{round(seconds / 60)} min ago"
    if seconds < 129_600:
        return f"{round(seconds / 3600)} h ago"
    return f"{round(seconds / 86_400)} days ago"


def exact(then: datetime) -> str:
    """ "2025-03-09 14:02:31 UTC"."""
    return then.strftime("%Y-%m-%d %H:%M:%S UTC")


def count(n: int, singular: str, plural: str = "") -> str:
    """ "1 question", "1,204 questions"."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A CSV with a header line, texts quoted; empty for no rows. Strict readers give back the same cells."""
    if not rows:
        return ""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()

"""What the import page shows of a file: rows as they will be stored, counts, reasons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from app.components.words import count, csv_text
from app.services.importing_report import ImportReport
from elical_core.datasets import Preview, RowProblem

PREVIEW_HEIGHT = 38 + 35 * 10


def size_words(size: int) -> str:
    """ "812 B", "3.4 MB"; decimal units."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000  # type: ignore[assignment]
    raise AssertionError


def file_words(preview: Preview) -> str:
    """ "questions.csv · CSV, gzipped · 3.4 MB · 12 columns"."""
    kind = preview.format.value.upper() + (", gzipped" if preview.gzipped else "")
    return " · ".join([preview.name, kind, size_words(preview.size), count(len(preview.columns), "column")])


def preview_rows(preview: Preview) -> list[dict[str, Any]]:
    """The first rows as they will be stored, every value a text."""
    return [
        {
            "row": row,
            "id": record.external_id,
            "question": record.text,
            "reference answers": " | ".join(record.reference_answers),
            "context": record.context,
            "domain": record.domain,
            "group": record.group,
            "split": record.split.value,
            "metadata": "; ".join(f"{name}: {value}" for name, value in record.metadata.items()),
        }
        for row, record in preview.rows
    ]


def preview_table(preview: Preview) -> None:
    rows = preview_rows(preview)
    filled = {name for row in rows for name, value in row.items() if value not in ("", None)}
    if "group" not in preview.mapping:
        filled.discard("group")  # made from the question's words; it says nothing to a reader
    st.dataframe(
        [{name: value for name, value in row.items() if name in filled} for row in rows],
        hide_index=True,
        height=PREVIEW_HEIGHT,
        key="preview",
        alt="The first rows as they will be stored",
    )


def counts(report: ImportReport) -> None:
    """New, identical, conflicting, rejected, and the sum that they make."""
    blank = report.skipped - report.identical
    cells = [
        ("New", report.new, "will be imported" if report.dry_run else "imported"),
        ("Identical", report.identical, "skipped"),
        ("Conflicting", report.conflicting, "id taken, left out"),
        ("Unusable", report.rejected - report.conflicting, "left out"),
    ]
    for column, (name, n, words) in zip(st.columns(4), cells, strict=True):
        with column.container(border=True, gap="xsmall"):
            st.metric(name, f"{n:,}")
            st.caption(words)
    extra = f", {count(blank, 'blank line')} skipped" if blank else ""
    st.caption(f"{count(report.read, 'row')} read{extra}. Every row is in exactly one of these numbers.")


def problem_table(problems: Sequence[RowProblem], left_out: int) -> None:
    """Row numbers and reasons, and all of them as CSV."""
    rows = [
        {"row": p.row, "line": p.line, "id": p.external_id, "kind": p.kind.value, "reason": p.reason} for p in problems
    ]
    title = count(len(rows) + left_out, "row") + " left out"
    with st.expander(title, icon=":material/report:", expanded=len(rows) < 20):
        st.dataframe(rows, hide_index=True, height=min(320, 38 + 35 * len(rows)), key="problems", alt=title)
        st.download_button(
            "CSV", csv_text(rows), "left-out-rows.csv", "text/csv", key="csv_problems", icon=":material/download:"
        )
        if left_out:
            st.caption(f"{left_out:,} more are not listed here; the command line writes all of them to a file.")

"""Quality: what did the labels buy, and is it time to stop?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import streamlit as st

from app import state
from app.components.budget_curve import budget_curve
from app.components.figure import CONFIG
from app.components.gate import chosen_project, show_notice
from app.components.job_panel import running_job, start_job, worker_warning
from app.components.literal import Tone, literal
from app.components.palette import estimator_name
from app.components.quality_words import (
    bin_rows,
    curve_rows,
    curve_series,
    drawn_bins,
    measured_words,
    why_no_point,
)
from app.components.reliability import reliability
from app.components.selective_risk import selective_risk
from app.components.words import METRICS, csv_text, metric_meaning, metric_name
from app.services import jobs, progress
from app.services.checkpoints import CheckpointView
from app.services.jobs import JobKind
from app.services.measurements import ESTIMATORS
from app.services.progress import ProjectState
from app.services.projects import ProjectView

if TYPE_CHECKING:
    from app.services.quality import QualityView

COMPUTED = """
- Every number is measured on the **audit stream**: questions drawn with equal probability within confidence deciles,
  whose labels never enter a fit. Correct means that the *greedy* answer, the one a user would see, was judged correct.
- Bands and brackets are 95% intervals from 2,000 bootstrap resamples of question groups.
- Stage 1 stands at zero labels, because it learned from none.
- The noise floor shows where the dots of a perfectly calibrated model would lie with as few questions.
- Unsure and skipped questions are left out and counted, never taken as wrong.
"""


def download(rows: Sequence[Mapping[str, Any]], name: str) -> None:
    st.download_button(
        "CSV",
        csv_text(rows),
        file_name=f"{name}.csv",
        mime="text/csv",
        key=f"csv_{name}",
        icon=":material/download:",
        type="tertiary",
        disabled=not rows,
    )


def calibrate_button(project: ProjectView, found: ProjectState, busy: bool) -> None:
    """The one primary button: learn from the labels that are there."""
    blocked = "Another training of this project is running." if busy else found.calibrate_blocked
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.button(
            f"Train Stage 2 on {found.labels.train:,} labels",
            key="calibrate",
            type="primary",
            icon=":material/play_arrow:",
            on_click=start_job,
            args=(JobKind.CALIBRATE, project.id, {}),
            disabled=bool(blocked),
        )
        if blocked:
            st.caption(f"Not now: {blocked}")


def live(project_id: int, drawn: list[str]) -> None:
    """The running job; redraws the page once when it ends, so that the chart shows its result."""
    active = [job for job in jobs.list_jobs(state.settings(), project_id, limit=10) if job.is_active]
    if [job.id for job in active] != drawn:
        st.rerun()
    for job in active[:1]:
        running_job(job, now=datetime.now(UTC))
        worker_warning()


def curve(project: ProjectView, view: QualityView) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        metric = st.segmented_control(
            "Metric",
            list(METRICS),
            default="auroc",
            format_func=metric_name,
            key="metric",
            label_visibility="collapsed",
            required=True,
        )
        download(curve_rows(view, metric), f"curve-{metric}")
    st.caption(metric_meaning(metric))
    why = why_no_point(view, metric)
    series = curve_series(view, metric)
    figure = budget_curve(series, metric, budget=project.budget, target=project.target, why_empty=why)
    with st.container(key="curve"):
        st.plotly_chart(figure, key="curve_chart", config=CONFIG, alt=f"{metric_name(metric)} against labels")
    st.caption("Labels count the training stream; the audit stream measures.")


def diagrams(view: QualityView) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown("#### Is stated confidence true?")
            download(bin_rows(view.reliability), "reliability")
        bins = {name: drawn_bins(found) for name, found in view.reliability.items()}
        st.plotly_chart(reliability(bins), key="reliability", config=CONFIG, alt="Reliability diagram")
    with right:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown("#### What would abstaining save?")
            download(risk_rows(view), "selective-risk")
        st.plotly_chart(selective_risk(view.selective), key="selective", config=CONFIG, alt="Selective risk")


def risk_rows(view: QualityView) -> list[dict[str, Any]]:
    return [
        {"estimator": name, "coverage": share, "risk": wrong}
        for name, (coverage, risk) in view.selective.items()
        for share, wrong in zip(coverage, risk, strict=True)
    ]


def checkpoint_row(view: QualityView, item: CheckpointView, is_current: bool) -> dict[str, Any]:
    estimator = ESTIMATORS[item.stage]
    return {
        "checkpoint": item.name,
        "kind": estimator_name(estimator),
        "labels": item.n_labels,
        "state": ("current, " if is_current else "") + item.state.value,
        "AUROC": measured_words(view, estimator, item.n_labels, "auroc"),
        "Brier": measured_words(view, estimator, item.n_labels, "brier"),
        "ECE": measured_words(view, estimator, item.n_labels, "ece"),
        "made": item.created_at,
    }


def checkpoint_table(view: QualityView, found: ProjectState) -> None:
    st.markdown("#### Checkpoints")
    if not found.checkpoints:
        st.caption("None yet. Stage 1 is the first; it needs sampled answers and no labels.")
        return
    newest = found.checkpoints[-1].id
    rows = [checkpoint_row(view, item, item.id == newest) for item in reversed(found.checkpoints)]
    st.dataframe(
        rows,
        hide_index=True,
        key="checkpoints",
        alt="Checkpoints, newest first",
        column_config={"made": st.column_config.DatetimeColumn(format="distance")},
    )


def page(project: ProjectView) -> None:
    database, who = state.database(), state.current_actor()
    st.title("Quality", anchor=False)
    found = progress.project_state(database, who, project.id)
    view = state.quality_of(project.id)
    active = [job for job in jobs.list_jobs(state.settings(), project.id, limit=10) if job.is_active]
    literal(view.sentence, Tone.BODY, key="sentence")
    show_notice()
    calibrate_button(project, found, any(job.kind.queue == JobKind.CALIBRATE.queue for job in active))
    st.fragment(live, run_every="2s" if active else "10s")(project.id, [job.id for job in active])
    curve(project, view)
    diagrams(view)
    checkpoint_table(view, found)
    with st.expander("How is this computed?", icon=":material/functions:"):
        st.markdown(COMPUTED)


page(chosen_project())

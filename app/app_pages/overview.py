"""Overview: where is this project, and what to do now?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import streamlit as st

from app import state
from app.components.budget_curve import budget_curve
from app.components.figure import CONFIG, SMALL
from app.components.gate import chosen_project, show_notice
from app.components.job_panel import failed_sentence, running_job, start_job, worker_warning
from app.components.literal import Tone, literal
from app.components.new_project import first_run, project_form
from app.components.next_step import NextAct, next_act, strip
from app.components.quality_words import curve_series, headline_numbers, why_no_point
from app.components.steps import step_strip
from app.components.words import ago, duration
from app.services import jobs, progress
from app.services.jobs import JobState, JobView
from app.services.progress import ProjectState
from app.services.projects import ProjectView

if TYPE_CHECKING:
    from app.services.quality import QualityView


def next_button(act: NextAct, project_id: int) -> None:
    st.markdown(act.blocked or act.reason)
    if act.job is not None:
        st.button(
            act.label,
            key="next_step",
            type="primary",
            icon=":material/play_arrow:",
            on_click=start_job,
            args=(act.job, project_id, act.options),
            disabled=bool(act.blocked),
        )
    elif st.button(act.label, key="next_step", type="primary", icon=":material/arrow_forward:"):
        st.switch_page(act.page)


def live_jobs(project_id: int, drawn: list[str]) -> None:
    """Polls while something runs; redraws the page once when the set of running jobs changes."""
    listed = jobs.list_jobs(state.settings(), project_id, limit=10)
    active = [job for job in listed if job.is_active]
    if [job.id for job in active] != drawn:
        st.rerun()
    now = datetime.now(UTC)
    for job in active[:2]:
        running_job(job, now=now)
    if active:
        worker_warning()


def numbers(found: ProjectState, view: QualityView) -> None:
    with st.container(horizontal=True, gap="medium", key="numbers"):
        st.metric("Labels used", f"{found.labels.labelled:,} of {found.budget:,}", width="stretch")
        st.metric("Time spent labelling", duration(found.seconds_spent), width="stretch")
        for number in headline_numbers(view):
            st.metric(
                number.name,
                number.value,
                number.interval,
                delta_color="off",
                delta_arrow="off",
                help=number.why or None,
                width="stretch",
            )


def last_failure(listed: list[JobView]) -> None:
    if listed and listed[0].state is JobState.FAILED:
        failed_sentence(listed[0])


def overview(project: ProjectView) -> None:
    database, who = state.database(), state.current_actor()
    found = progress.project_state(database, who, project.id)
    listed = jobs.list_jobs(state.settings(), project.id, limit=10)
    active = [job for job in listed if job.is_active]
    literal(project.name, Tone.TITLE, key="title")
    literal(
        f"model {project.model_id} · k = {project.sampling.k} · begun {ago(project.created_at, datetime.now(UTC))}",
        Tone.QUIET,
        key="subtitle",
    )
    show_notice()
    step_strip(strip(found, active))
    next_button(next_act(found, active), project.id)
    last_failure(listed)
    st.fragment(live_jobs, run_every="2s" if active else "10s")(project.id, [job.id for job in active])
    view = state.quality_of(project.id)  # slow after new labels, so everything above is on screen by then
    numbers(found, view)
    st.plotly_chart(
        budget_curve(
            curve_series(view, "auroc"),
            "auroc",
            budget=project.budget,
            target=project.target,
            why_empty=why_no_point(view, "auroc"),
            height=SMALL,
        ),
        key="small_curve",
        config=CONFIG,
        alt="AUROC against the number of labels",
    )
    with st.expander("New project", icon=":material/add:"):
        project_form(primary=False)


if state.current_project() is None:
    show_notice()
    first_run()
else:
    overview(chosen_project())

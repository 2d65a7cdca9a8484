"""Jobs: what runs, how far it is, what it left behind."""

from datetime import UTC, datetime

import streamlit as st

from app import state
from app.components.gate import chosen_project, show_notice
from app.components.job_panel import (
    TITLES,
    cancel_job,
    failed_sentence,
    job_time,
    running_job,
    worker_warning,
)
from app.components.words import duration, exact
from app.services import jobs
from app.services.jobs import JobState, JobView
from app.services.projects import ProjectView

LOG_LINES = 40


def result_words(job: JobView) -> str:
    """ "sampled 240, drawn 60": the plain numbers of a job's result."""
    return ", ".join(f"{name} {value:,}" for name, value in job.result.items() if isinstance(value, int))


def history(finished: list[JobView], now: datetime) -> None:
    st.dataframe(
        [
            {
                "job": TITLES[job.kind],
                "state": job.state.value,
                "result": result_words(job) or job.error,
                "took": "" if (seconds := job_time(job, now)) is None else duration(seconds),
                "finished": job.finished_at or job.created_at,
            }
            for job in finished
        ],
        hide_index=True,
        height=min(420, 38 + 35 * len(finished)),
        key="history",
        column_config={"finished": st.column_config.DatetimeColumn(format="distance")},
        alt="Finished jobs, newest first",
    )


def log_of(listed: list[JobView]) -> None:
    """The log tail of one job; of the newest unless another is chosen."""
    names = {job.id: f"{TITLES[job.kind]}, {job.state}, {exact(job.created_at)}" for job in listed}
    chosen = st.selectbox("Log of", list(names), format_func=names.__getitem__, key="log_job")
    tail = jobs.log_tail(state.settings(), chosen, LOG_LINES)
    st.code(tail or "This job has written nothing yet.", language=None, height=260, wrap_lines=True)


def panel(project: ProjectView) -> None:
    show_notice()
    worker_warning()
    now = datetime.now(UTC)
    listed = jobs.list_jobs(state.settings(), project.id)
    active, finished = [j for j in listed if j.is_active], [j for j in listed if not j.is_active]
    if active:
        for job in active:
            running_job(job, now=now, cancel=cancel_job)
    else:
        with st.container(border=True, height=166):
            st.markdown("**Nothing is running**")
            st.caption("Sampling, training and measuring appear here while they run. The overview starts the next one.")
            st.page_link("app_pages/overview.py", label="Go to the overview", icon=":material/arrow_forward:")
    if finished and finished[0].state is JobState.FAILED:
        failed_sentence(finished[0])
    if finished:
        st.markdown("#### History")
        history(finished, now)
    if listed:
        log_of(listed)


project = chosen_project()
st.title("Jobs", anchor=False)
busy = any(job.is_active for job in jobs.list_jobs(state.settings(), project.id))
st.fragment(panel, run_every="2s" if busy else "10s")(project)

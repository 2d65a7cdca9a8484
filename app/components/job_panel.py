"""A background job on the screen: what it does, how far it is, how long it still takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import streamlit as st

from app import state
from app.components.literal import Tone, literal
from app.components.words import duration
from app.services import jobs
from app.services.jobs import JobKind, JobState, JobView
from elical_core.errors import ElicalError, JobRefused

TITLES = {
    JobKind.SAMPLE: "Sampling answers",
    JobKind.ELICIT: "Training Stage 1 (elicitation)",
    JobKind.SELECT: "Selecting questions",
    JobKind.CALIBRATE: "Training Stage 2 (calibration)",
    JobKind.EVALUATE: "Measuring checkpoints",
    JobKind.PREPARE: "Preparing the project",
}
STATE_COLOURS = {
    JobState.QUEUED: "gray",
    JobState.RUNNING: "blue",
    JobState.SUCCEEDED: "green",
    JobState.FAILED: "red",
    JobState.CANCELLED: "orange",
}


def progress_words(job: JobView) -> str:
    """ "sampling: 120 of 1,500 · 5.7 a second · 4 min left"; what is known of it."""
    if job.state is JobState.QUEUED:
        return "waiting for its turn"
    parts = [f"{job.step or 'starting'}: {job.done:,} of {job.total:,}" if job.total else job.step or "starting"]
    if job.rate:
        parts.append(f"{job.rate:.1f} a second" if job.rate >= 0.1 else f"{job.rate * 60:.1f} a minute")
    if job.seconds_left is not None:
        parts.append(f"{duration(job.seconds_left)} left")
    return " · ".join(parts)


def job_time(job: JobView, now: datetime) -> float | None:
    """Seconds from start to end, or to now while it runs; None before it started."""
    if job.started_at is None:
        return None
    return ((job.finished_at or now) - job.started_at).total_seconds()


def running_job(job: JobView, *, now: datetime, cancel: Callable[[str], None] | None = None) -> None:
    """One queued or running job in a box of fixed height, with its cancel button."""
    with st.container(border=True, height=166 if cancel else 104):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{TITLES[job.kind]}**")
            st.badge(job.state.value, color=STATE_COLOURS[job.state])
        st.progress(job.fraction_done, text=progress_words(job))
        if cancel is not None:
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                seconds = job_time(job, now)
                st.caption("not started" if seconds is None else f"running for {duration(seconds)}")
                st.button("Cancel", key=f"cancel_{job.id}", on_click=cancel, args=(job.id,), icon=":material/cancel:")


def failed_sentence(job: JobView) -> None:
    """What failed, and what to do, in one red bar."""
    literal(f"{TITLES[job.kind]} failed: {job.error}", Tone.ERROR, key=f"failed_{job.id}")


def start_job(kind: JobKind, project_id: int, options: Mapping[str, Any]) -> None:
    """A callback: queue the job; the page says at its next draw how that went."""
    try:
        jobs.submit(state.settings(), state.current_actor(), kind, project_id, **options)
    except JobRefused:  # a second click: the job that is wanted is there already, and the page shows it
        state.notify(f"{TITLES[kind]}: already queued or running.", ok=True)
    except ElicalError as refused:
        state.notify(str(refused), ok=False)


def cancel_job(job_id: str) -> None:
    """A callback: ask the job to stop."""
    try:
        jobs.cancel(state.settings(), state.current_actor(), job_id)
        state.notify("The job stops within seconds; what it has stored is kept.", ok=True)
    except ElicalError as refused:
        state.notify(str(refused), ok=False)


def worker_warning() -> None:
    """Say so when jobs wait for a worker that is not there."""
    if not jobs.worker_is_alive(state.settings()):
        words = "No worker is running, so jobs wait. Start one with: elical worker (or everything with: elical up)"
        literal(words, Tone.WARNING, key="worker_warning")

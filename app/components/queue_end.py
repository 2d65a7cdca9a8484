"""The end of the queue: what is left and why, and the annotator's own numbers."""

from __future__ import annotations

import streamlit as st

from app.components.words import count, duration
from app.services.labelling import QueueState
from app.services.labels import LabelCounts


def reasons_left(queue: QueueState) -> list[str]:
    """Why nothing is open, one sentence each."""
    reasons = []
    if queue.drawn == 0:
        reasons.append("No questions have been selected for labelling yet.")
    if queue.leased:
        until = f" until {queue.leased_until:%H:%M} UTC at the latest" if queue.leased_until else ""
        reasons.append(f"{count(queue.leased, 'question')} open with somebody else{until}.")
    if queue.without_answers:
        reasons.append(f"{count(queue.without_answers, 'question')} selected but not yet answered by the model.")
    if queue.done_by_others:
        reasons.append(f"{count(queue.done_by_others, 'question')} done by others.")
    return reasons


def queue_end(queue: QueueState, counts: LabelCounts, budget: int) -> None:
    """Thanks, the numbers, and where to go."""
    with st.container(border=True):
        if queue.done_by_me:
            st.markdown("#### That was the last one. Thank you!")
            own = f"You judged {count(queue.my_judged, 'question')}"
            if queue.median_seconds is not None:
                own += f", typically in {duration(queue.median_seconds)}"
            extra = [f"{n} {word}" for n, word in ((queue.my_unsure, "unsure"), (queue.my_skipped, "skipped")) if n]
            st.markdown(own + (f"; {' and '.join(extra)}" if extra else "") + ".")
        else:
            st.markdown("#### Nothing to label right now")
        for reason in reasons_left(queue):
            st.caption(reason)
        st.caption(f"{counts.labelled:,} of {budget:,} labels of the budget are given.")
        st.page_link("app_pages/overview.py", label="See what comes next", icon=":material/arrow_forward:")

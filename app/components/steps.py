"""The five-step strip of the overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import streamlit as st


class StepState(StrEnum):
    DONE = "done"
    NEXT = "next"
    RUNNING = "running"
    LATER = "later"


_MARKS = {
    StepState.DONE: ":green[:material/check_circle:]",
    StepState.NEXT: ":primary[:material/arrow_circle_right:]",
    StepState.RUNNING: ":blue[:material/pending:]",
    StepState.LATER: ":gray[:material/radio_button_unchecked:]",
}


@dataclass(frozen=True, kw_only=True)
class StepCard:
    """``figure`` is the one number of the step; ``words`` says what it counts."""

    name: str
    figure: str
    words: str
    state: StepState


def step_strip(steps: Sequence[StepCard]) -> None:
    """All steps side by side; they wrap on a narrow screen."""
    with st.container(horizontal=True, gap="small", key="steps"):
        for step in steps:
            with st.container(border=True, gap="xxsmall", width="stretch", key=f"step_{step.name.lower()}"):
                muted = step.state is StepState.LATER
                st.markdown(f"{_MARKS[step.state]} **{step.name}**")
                st.markdown(f"### :gray[{step.figure}]" if muted else f"### {step.figure}")
                st.caption(step.words)

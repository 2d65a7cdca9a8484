"""What every project page needs first: a project, or words on how to get one."""

from __future__ import annotations

import streamlit as st

from app import state
from app.components.literal import Tone, literal
from app.services import projects
from app.services.projects import ProjectView


def chosen_project() -> ProjectView:
    """The chosen project. Without one the page ends here, with the way to the overview."""
    name = state.current_project()
    if name is None:
        st.markdown("#### There is no project yet")
        st.caption("A project holds questions, a model and the labels you give. Make one, or start the demo.")
        st.page_link("app_pages/overview.py", label="Go to the overview", icon=":material/arrow_forward:")
        st.stop()
        raise AssertionError("st.stop() does not return")
    return projects.project_by_name(state.database(), state.current_actor(), name)


def show_notice() -> None:
    """The result of the last callback, once: green when it went well, the red bar when it was refused."""
    notice = state.take_notice()
    if notice is not None:
        words, ok = notice
        literal(words, Tone.SUCCESS if ok else Tone.ERROR, key="notice")

"""Ways to begin: the demo, or a project of one's own."""

from __future__ import annotations

import streamlit as st

from app import state
from app.services import importing, jobs, projects
from app.services.jobs import FIRST_BATCH, ROUND, JobKind
from elical_core.config import SamplingConfig
from elical_core.demo import corpus
from elical_core.errors import ElicalError
from elical_core.models.prompt import default_prompt

DEMO = "demo"
_PROMPTS = {"few-shot": "Few-shot, for base models", "chat": "The model's chat template, for instruct models"}


def _start_demo() -> None:
    database, who = state.database(), state.current_actor()
    try:
        project = projects.create_project(
            database, who, DEMO, model_id="packaged", prompt=default_prompt("few-shot").to_json()
        )
        importing.add_questions(database, who, project.id, corpus())
        state.choose_project(project.name)
        jobs.submit(state.settings(), who, JobKind.PREPARE, project.id, first=FIRST_BATCH, n=ROUND)
    except ElicalError as refused:
        state.notify(str(refused), ok=False)


def _create() -> None:
    typed = st.session_state
    try:
        project = projects.create_project(
            state.database(),
            state.current_actor(),
            typed["new_name"],
            model_id=typed["new_model"],
            prompt=default_prompt(typed["new_prompt"]).to_json(),
            sampling=SamplingConfig(k=int(typed["new_k"])),
            budget=int(typed["new_budget"]),
            guideline=typed["new_guideline"],
        )
        state.choose_project(project.name)
    except ElicalError as refused:
        state.notify(str(refused), ok=False)


def project_form(*, primary: bool) -> None:
    """Name, model, k, budget, guideline; one button makes the project and chooses it."""
    with st.form("new_project", border=False):
        st.text_input("Name", key="new_name", max_chars=100, placeholder="for example: anatomy questions")
        st.text_input(
            "Model",
            value="packaged",
            key="new_model",
            help="packaged (Gemma 3 270M, nothing to download), a hub id, a folder, or a GGUF file.",
        )
        left, right = st.columns(2)
        left.number_input(
            "Answers sampled (k)",
            min_value=2,
            max_value=200,
            value=20,
            key="new_k",
            help="A question is answered k times. 5 is nearly as good for training and about four times as fast.",
        )
        right.number_input("Label budget", min_value=1, value=250, key="new_budget", help="Questions people may label.")
        with st.expander("Prompt and guideline"):
            st.selectbox("Prompt", list(_PROMPTS), format_func=_PROMPTS.__getitem__, key="new_prompt")
            st.text_area(
                "Guideline for annotators", key="new_guideline", height=80, placeholder="What counts as correct?"
            )
        kind = "primary" if primary else "secondary"
        st.form_submit_button("Create project", on_click=_create, type=kind, icon=":material/add:")


def first_run() -> None:
    """The demo and one's own file, side by side."""
    st.title("Make a model say how sure it is", anchor=False)
    st.markdown(
        "EliCal trains a model to state, **before it answers**, how likely its answer is to be correct. "
        "It needs questions, the model, and a few hundred labels from people who know."
    )
    demo, own = st.columns(2, gap="medium")
    with demo.container(border=True, height="stretch"):
        st.markdown("#### Try the demo")
        st.markdown(
            "Short factual questions and a small model that comes along; nothing is downloaded.\n\n"
            "1. The model answers each question many times.\n"
            "2. Stage 1 learns from how often its answers agree. No labels so far.\n"
            "3. You label twenty questions, and the curve shows what each label bought.\n\n"
            "The first question is ready in a few minutes, also on a laptop."
        )
        st.button("Start the demo", type="primary", on_click=_start_demo, icon=":material/play_arrow:", key="demo")
    with own.container(border=True, height="stretch"):
        st.markdown("#### Bring your own questions")
        st.caption("Make a project, then drop a CSV, TSV, JSONL, Parquet or XLSX file.")
        project_form(primary=False)

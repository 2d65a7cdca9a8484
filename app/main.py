"""The entry page: page settings, the gate, the project picker and navigation. Nothing else."""

import streamlit as st

from app import state
from app.components.literal import Tone, literal
from app.components.logo import LOGO, MARK
from app.services import projects
from elical_core.errors import ElicalError

st.set_page_config(page_title="EliCal", page_icon=MARK, layout="wide", initial_sidebar_state=240)
st.logo(LOGO, size="large")

page = st.navigation(
    [
        st.Page("app_pages/overview.py", title="Overview", icon=":material/home:", default=True),
        st.Page("app_pages/import_questions.py", title="Import", icon=":material/upload_file:", url_path="import"),
        st.Page("app_pages/annotate.py", title="Annotate", icon=":material/checklist:"),
        st.Page("app_pages/quality.py", title="Quality", icon=":material/monitoring:"),
        st.Page("app_pages/jobs.py", title="Jobs", icon=":material/schedule:"),
    ]
)
names: list[str] = []
try:
    names = [project.name for project in projects.list_projects(state.database(), state.current_actor())]
except ElicalError as refused:
    literal(str(refused), Tone.ERROR)
    st.stop()
if names:
    st.sidebar.selectbox("Project", names, key=state.PROJECT, bind="query-params")
page.run()

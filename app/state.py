"""The pages' state, in one place: which project, and what the annotate page last heard. Ids and plain values only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import streamlit as st

from app.deps import open_database
from app.services import checkpoints, labels
from app.services.actors import Actor, local_admin
from app.settings import Settings
from db.engine import Database

if TYPE_CHECKING:
    from app.services.quality import QualityView

PROJECT = "project"  # key of the project picker; also its name in the address
_DESK = "annotate_desk"
_NOTICE = "notice"


_read_settings = st.cache_resource(Settings.from_env, show_spinner=False)
_open_database = st.cache_resource(
    open_database, show_spinner=False, on_release=Database.close, hash_funcs={Settings: repr}
)


def settings() -> Settings:
    """Read once a process."""
    return cast(Settings, _read_settings())


def database() -> Database:
    """One engine a process, shared by all sessions."""
    return cast(Database, _open_database(settings()))


def current_actor() -> Actor:
    """Who acts: on one's own machine the local admin."""
    return local_admin(database())


def quality_of(project_id: int) -> QualityView:
    """The quality of a project, computed anew only when a label or a checkpoint has changed."""
    found = labels.labelled(database(), current_actor(), project_id)
    known = [(item.question_id, item.soft, item.greedy, item.stream) for item in found]
    made = [item.id for item in checkpoints.list_checkpoints(database(), current_actor(), project_id)]
    return cast("QualityView", _cached_quality(project_id, repr((known, made))))


def _quality(project_id: int, state_of_labels: str) -> QualityView:
    from app.services import quality  # brings scipy, which would hold up the first page by a second

    return quality.quality_view(settings(), database(), current_actor(), project_id)


_cached_quality = st.cache_data(_quality, max_entries=8, show_spinner="Measuring")


def current_project() -> str | None:
    """The chosen project's name."""
    return cast("str | None", st.session_state.get(PROJECT))


def choose_project(name: str) -> None:
    """Call it in a callback, before the picker is drawn."""
    st.session_state[PROJECT] = name


def desk(project_id: int) -> dict[str, Any]:
    """What the annotate page remembers between reruns of one project, as plain values: the card and counts last shown,
    the reply to the last event, what was said of the previous question, this session's tally."""
    desks = st.session_state.setdefault(_DESK, {})
    fresh = {
        "card": None,
        "queue": None,
        "labels": None,
        "reply": None,
        "judged": None,
        "previous": "",
        "saved_at": "",
        "tally": {"done": 0, "unsure": 0, "skipped": 0},
    }
    return cast("dict[str, Any]", desks.setdefault(project_id, fresh))


def notify(words: str, *, ok: bool) -> None:
    """Keep a sentence for the next draw of the page: the result of a callback."""
    st.session_state[_NOTICE] = (words, ok)


def take_notice() -> tuple[str, bool] | None:
    """The kept sentence, once."""
    return cast("tuple[str, bool] | None", st.session_state.pop(_NOTICE, None))

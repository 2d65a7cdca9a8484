"""The annotation card: question, all its distinct answers, keys and submit in one literal-text component.

A component of its own because Streamlit's labels render Markdown, and because ticking must not wait for the server. The
browser half is ``annotate.js``; it reports one event a verdict and says nothing while the annotator ticks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from app.shortcuts import ANNOTATE, Act, cap

KEY = "annotation_card"
EVENT = "act"

_HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class CardItem:
    """One question as the card shows it.

    ``answers`` are (cluster id, text, note in our words) in screen order; ``details`` are (name, text) folded under the
    question; ``references`` are the known reference answers; ``ticked`` and ``reasons`` (cluster id, words)
    are what stands ticked at first and why; ``editing`` marks an earlier verdict.
    """

    question_id: int
    token: str
    client_key: str
    question: str
    answers: Sequence[tuple[int, str, str]]
    details: Sequence[tuple[str, str]] = ()
    references: Sequence[str] = ()
    ticked: Sequence[int] = ()
    reasons: Sequence[tuple[int, str]] = ()
    editing: bool = False


@dataclass(frozen=True, kw_only=True)
class Judged:
    """What a typed reference matches. ``key`` is the event's, ``token`` the item's; ``same`` are cluster ids,
    ``reasons`` (cluster id, words)."""

    key: str
    token: str
    same: Sequence[int]
    reasons: Sequence[tuple[int, str]]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What became of the event with this ``key``. ``problem`` is empty when all went well; with ``saved`` it is about
    something beside the verdict, which is safe."""

    key: str
    saved: bool = False
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class CardState:
    """Everything the card shows. ``item`` is None at the end of the queue; ``saved_at`` is ISO time, UTC."""

    annotator: str
    item: CardItem | None
    reply: Reply | None = None
    judged: Judged | None = None
    previous: str = ""
    session: str = ""
    saved_at: str = ""
    can_undo: bool = False

    def as_data(self) -> dict[str, Any]:
        """The JSON that ``annotate.js`` reads."""
        item, reply, judged = self.item, self.reply, self.judged
        return {
            "annotator": self.annotator,
            "item": None
            if item is None
            else {
                "question_id": item.question_id,
                "token": item.token,
                "client_key": item.client_key,
                "question": item.question,
                "answers": [{"id": number, "text": text, "note": note} for number, text, note in item.answers],
                "details": [list(pair) for pair in item.details],
                "references": list(item.references),
                "ticked": list(item.ticked),
                "reasons": [list(pair) for pair in item.reasons],
                "editing": item.editing,
            },
            "reply": None if reply is None else {"key": reply.key, "saved": reply.saved, "problem": reply.problem},
            "judged": None
            if judged is None
            else {
                "key": judged.key,
                "token": judged.token,
                "same": list(judged.same),
                "reasons": [list(pair) for pair in judged.reasons],
            },
            "previous": self.previous,
            "session": self.session,
            "saved_at": self.saved_at,
            "can_undo": self.can_undo,
            "keys": [{"act": s.act, "key": s.key, "shown": s.shown, "says": s.says} for s in ANNOTATE],
        }


def _button(act: Act, words: str, *, part: str = "", style: str = "") -> str:
    inner = f'<span data-part="{part}">{words}</span>' if part else words
    name = "keys" if act is Act.HELP else act.value
    return (
        f'<button type="button" data-part="{name}" class="{style}" aria-keyshortcuts="{cap(act)}">'
        f"{inner}<kbd>{cap(act)}</kbd></button>"
    )


_HTML = f"""
<div class="card">
  <section class="question" data-part="question">
    <div><p class="mark" data-part="mark" hidden></p><div class="text literal" data-part="text" role="heading"
      aria-level="2"></div></div>
    <details data-part="details"><summary data-part="summary"></summary><dl data-part="facts"></dl></details>
  </section>
  <div class="ask" data-part="ask">
    <div><h3>Tick every correct answer</h3><div class="quiet literal" data-part="references"></div></div>
    <div class="reference"><label for="typed">or type it</label>
      <input type="text" id="typed" data-part="typed" placeholder="reference answer, then Enter" autocomplete="off"
        maxlength="1000"></div>
  </div>
  <fieldset class="answers" data-part="answers" aria-label="Distinct answers of the model"></fieldset>
  <div class="bar">
    <div class="problem" data-part="problem" role="alert" hidden></div>
    <div class="actions">
      <span data-part="actions-judge" style="display: contents">
        {_button(Act.SUBMIT, "Submit", part="submit-words", style="primary")}
        {_button(Act.NONE_CORRECT, "None is correct", style="none")}
        {_button(Act.UNSURE, "Unsure")}
        {_button(Act.SKIP, "Skip")}
      </span>
      {_button(Act.UNDO, "Undo", style="undo")}
      {_button(Act.HELP, "Keys", style="keys")}
    </div>
    <div class="status quiet"><span class="saved" data-part="saved" role="status"></span>
      <span data-part="session"></span></div>
    <div class="previous quiet literal" data-part="hint" role="status"></div>
    <div class="help" data-part="help" hidden><dl data-part="help-keys"></dl></div>
  </div>
</div>
"""

_MOUNT = st.components.v2.component(
    "elical_annotation_card",
    html=_HTML,
    css=(_HERE / "annotate.css").read_text(encoding="utf-8"),
    js=(_HERE / "annotate.js").read_text(encoding="utf-8"),
)


def annotation_card(state: CardState, on_act: Callable[[], None]) -> None:
    """Draw the card. ``on_act`` runs once an event; it finds the event with ``last_event``."""
    _MOUNT(key=KEY, data=state.as_data(), on_act_change=on_act)


def last_event() -> dict[str, Any]:
    """The event that called ``on_act``; empty outside of it."""
    return dict(st.session_state.get(KEY, {}).get(EVENT) or {})

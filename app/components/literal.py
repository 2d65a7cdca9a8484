"""Text from users, files and models, shown byte for byte: no Markdown, no emoji codes, no maths, newlines kept."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import streamlit as st


class Tone(StrEnum):
    TITLE = "title"
    HEADING = "heading"
    BODY = "body"
    QUIET = "quiet"
    ERROR = "error"
    WARNING = "warning"
    SUCCESS = "success"


_HERE = Path(__file__).parent
_MOUNT = st.components.v2.component(
    "elical_literal",
    html='<div class="text"></div>',
    css=(_HERE / "literal.css").read_text(encoding="utf-8"),
    js=(_HERE / "literal.js").read_text(encoding="utf-8"),
)


def literal(text: str, tone: Tone = Tone.BODY, *, key: str | None = None) -> None:
    """Show ``text`` exactly as it is. ``ERROR`` is the red bar of every refused act."""
    _MOUNT(key=key, data={"text": text, "tone": tone.value})

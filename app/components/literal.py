"""Text from users, files and models, shown byte for byte: no Markdown, no emoji codes, no maths, newlines kept."""

from __future__ import annotations

from enum import StrEnum

import streamlit as st


class Tone(StrEnum):
    TITLE = "title"
    HEADING = "heading"
    BODY = "body"
    QUIET = "quiet"
    ERROR = "error"
    WARNING = "warning"
    SUCCESS = "success"


_CSS = """
:host { display: block; }
.text { margin: 0; color: var(--st-text-color); font-family: var(--st-font); white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.5; }
.title { font-family: var(--st-heading-font); color: var(--st-heading-color); font-size: var(--st-heading-font-size-1); font-weight: 650; line-height: 1.25; }
.heading { font-size: 1.1rem; font-weight: 600; }
.quiet { font-size: 0.875rem; opacity: 0.72; }
.error, .warning, .success { border-radius: var(--st-base-radius); padding: 0.75rem 1rem; border: 1px solid; }
.error { background: var(--st-red-background-color); color: var(--st-red-text-color); }
.warning { background: var(--st-orange-background-color); color: var(--st-orange-text-color); }
.success { background: var(--st-green-background-color); color: var(--st-green-text-color); }
"""

_JS = """
export default function ({ data, parentElement }) {
  const node = parentElement.querySelector(".text")
  node.className = `text ${data.tone}`
  node.textContent = data.text
  node.setAttribute("role", { error: "alert", title: "heading", heading: "heading" }[data.tone] ?? "note")
  if (data.tone === "title" || data.tone === "heading") node.ariaLevel = data.tone === "title" ? "1" : "3"
}
"""

_MOUNT = st.components.v2.component("elical_literal", html='<div class="text"></div>', css=_CSS, js=_JS)


def literal(text: str, tone: Tone = Tone.BODY, *, key: str | None = None) -> None:
    """Show ``text`` exactly as it is. ``ERROR`` is the red bar of every refused act."""
    _MOUNT(key=key, data={"text": text, "tone": tone.value})

"""One table of keys, no clash, and the card reads it."""

from __future__ import annotations

from app.components.annotate import CardItem, CardState, Judged, Reply
from app.shortcuts import ANNOTATE, Act, cap

FIXED_BY_BROWSER = {"c", "r", "Tab", "Escape", " "}


def test_no_key_does_two_things() -> None:
    keys = [shortcut.key for shortcut in ANNOTATE]
    assert len(set(keys)) == len(keys)
    assert not FIXED_BY_BROWSER & set(keys)
    assert {shortcut.act for shortcut in ANNOTATE} == set(Act)


def test_caps_of_the_screen() -> None:
    caps = [cap(act) for act in (Act.SUBMIT, Act.NONE_CORRECT, Act.UNSURE, Act.SKIP, Act.UNDO, Act.HELP)]
    assert caps == ["Enter", "N", "U", "S", "Z", "?"]


def test_card_data_is_plain_json() -> None:
    item = CardItem(
        question_id=3,
        token="t",
        client_key="k",
        question="*q*",
        answers=[(7, "<b>", ""), (8, "", "(an empty answer)")],
        details=[("context", "$a$")],
        references=("x",),
        ticked=[7],
        reasons=[(7, "same by: exact")],
    )
    state = CardState(
        annotator="1",
        item=item,
        reply=Reply(key="k", saved=True),
        judged=Judged(key="j", token="t", same=[7], reasons=[(7, "same by: alias")]),
    )
    data = state.as_data()
    assert data["item"]["answers"] == [
        {"id": 7, "text": "<b>", "note": ""},
        {"id": 8, "text": "", "note": "(an empty answer)"},
    ]
    assert data["reply"] == {"key": "k", "saved": True, "problem": ""}
    assert data["judged"]["reasons"] == [[7, "same by: alias"]]
    assert [key["key"] for key in data["keys"]] == [shortcut.key for shortcut in ANNOTATE]
    assert CardState(annotator="1", item=None).as_data()["item"] is None

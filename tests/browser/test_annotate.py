"""Labelling with the keyboard in a real browser: saved is saved, text is literal, no key hits the wrong question."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from app.services import labels
from app.services.actors import Actor
from app.settings import Settings
from db.engine import Database
from elical_core.domain import VerdictValue
from tests.browser import pages
from tests.browser.pages import AnnotatePage
from tests.browser.seeding import LITERAL, TRICKY, Seeded, add_project, empty_home

pytestmark = pytest.mark.browser


Home = tuple[Settings, Database, Actor]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    made = empty_home(tmp_path_factory.mktemp("annotate") / "home")
    yield made
    made[1].close()


@pytest.fixture(scope="module")
def address(home: Home) -> Iterator[str]:
    with pages.served(home[0].home, home[0].home / "pages.log") as url:
        yield url


@pytest.fixture(scope="module")
def chromium(address: str) -> Iterator[Browser]:
    with pages.browser() as opened:
        yield opened


@pytest.fixture
def seeded(home: Home, request: pytest.FixtureRequest) -> Seeded:
    """A project of the test's own."""
    return add_project(*home, name=request.node.name, questions=24, drawn=16)


@pytest.fixture
def desk(chromium: Browser, address: str, seeded: Seeded, request: pytest.FixtureRequest) -> Iterator[AnnotatePage]:
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    annotate = AnnotatePage(page)
    annotate.open(address, request.node.name)
    yield annotate
    page.close()


def labelled(seeded: Seeded) -> int:
    return labels.label_counts(seeded.database, seeded.who, seeded.project_id).labelled


def verdicts(seeded: Seeded, question_id: int) -> dict[str, str]:
    """Answer text -> its newest verdict."""
    with seeded.database.engine.connect() as connection:
        rows = connection.exec_driver_sql(
            "select answer_text, value from verdicts where question_id = ? order by version", (question_id,)
        )
        return {text: value for text, value in rows}


def _run(seeded: Seeded, sql: str) -> None:
    with seeded.database.engine.begin() as connection:
        connection.exec_driver_sql(sql)


def test_five_questions_by_keyboard_survive_a_reload(desk: AnnotatePage, seeded: Seeded) -> None:
    first = desk.question()
    ticked_text = desk.answers()[1]
    desk.verdict("2", "Enter")
    expect(desk.part("saved")).to_contain_text("Saved")
    desk.verdict("0", "n")
    desk.verdict("0", "1", "2", "2", "Enter")
    desk.verdict("u")
    desk.verdict("s")
    assert labelled(seeded) == 3
    assert verdicts(seeded, seeded.questions[0])[ticked_text] == VerdictValue.CORRECT
    sixth = desk.question()
    desk.page.reload()
    desk.wait_for_another_question("")
    assert desk.question() == sixth != first
    assert "3 of 100 labels" in desk.progress()


def test_every_text_is_shown_byte_for_byte(desk: AnnotatePage) -> None:
    assert desk.question() == TRICKY.text
    assert set(LITERAL) <= set(desk.answers())
    desk.press("g")
    assert TRICKY.context in desk.page.locator('[data-part="facts"] dd').all_text_contents()


def test_undo_brings_the_question_back_with_its_ticks(desk: AnnotatePage, seeded: Seeded) -> None:
    first = desk.question()
    desk.verdict("1", "3", "Enter")
    second = desk.question()
    desk.verdict("z")
    assert (desk.question(), desk.ticked()) == (first, [0, 2])
    assert labelled(seeded) == 0
    desk.verdict("3", "Enter")
    assert labelled(seeded) == 1
    assert desk.question() == second


def test_keys_are_muted_while_typing_and_do_not_repeat(desk: AnnotatePage, seeded: Seeded) -> None:
    question = desk.question()
    desk.press("t")
    desk.page.keyboard.type("1 n u s z")
    assert desk.part("typed").input_value() == "1 n u s z"
    assert (desk.question(), desk.ticked(), labelled(seeded)) == (question, [], 0)
    desk.press("Escape")
    desk.page.keyboard.down("1")
    desk.page.keyboard.down("1")  # a held key repeats
    assert desk.ticked() == [0]


def test_a_double_submit_is_one_verdict_and_never_reaches_the_next_question(desk: AnnotatePage, seeded: Seeded) -> None:
    before = desk.question()
    desk.page.evaluate(
        """() => {
             const press = key => document.dispatchEvent(new KeyboardEvent("keydown", {key, code: key, bubbles: true}))
             press("n"); press("n"); press("u"); press("Enter")
           }"""
    )
    desk.wait_for_another_question(before)
    desk.page.wait_for_timeout(1500)
    assert labelled(seeded) == 1
    assert verdicts(seeded, seeded.questions[1]) == {}


def test_typed_reference_ticks_what_means_the_same_and_says_why(desk: AnnotatePage, seeded: Seeded) -> None:
    desk.press("t")
    desk.page.keyboard.type(":SMILE:")
    desk.press("Enter")
    place = desk.answers().index(":smile:")
    expect(desk.page.locator(".answer").nth(place)).to_contain_text("same by:")
    assert desk.ticked() == [place]
    desk.verdict("Enter")
    _run(seeded, "alter table verdicts rename to away")
    desk.press("0", "n")
    expect(desk.part("problem")).to_be_visible()
    _run(seeded, "alter table away rename to verdicts")
    assert desk.ticked() == []  # the first question's judgement does not leak into the second
    assert desk.part("submit-words").text_content() == "Submit"


def test_ticks_survive_a_reload(desk: AnnotatePage) -> None:
    desk.press("2", "4")
    desk.page.reload()
    desk.wait_for_another_question("")
    assert desk.ticked() == [1, 3]


def test_a_store_that_is_down_is_red_and_keeps_the_verdict(desk: AnnotatePage, seeded: Seeded) -> None:
    question = desk.question()
    _run(seeded, "alter table verdicts rename to away")
    desk.press("1", "Enter")
    expect(desk.part("problem")).to_be_visible()
    expect(desk.part("saved")).to_have_text("Not saved")
    assert (desk.question(), desk.ticked()) == (question, [0])
    _run(seeded, "alter table away rename to verdicts")
    assert labelled(seeded) == 0
    desk.verdict("Enter")
    assert labelled(seeded) == 1


def test_the_end_of_the_queue_says_thanks_and_can_be_undone(desk: AnnotatePage, seeded: Seeded) -> None:
    for _ in seeded.questions:
        desk.verdict("0", "n")
    expect(desk.page.get_by_text("Thank you!")).to_be_visible()
    assert labelled(seeded) == len(seeded.questions)
    desk.press("z")
    expect(desk.part("text")).to_be_visible()
    assert labelled(seeded) == len(seeded.questions) - 1


def test_the_card_fits_a_phone(chromium: Browser, address: str, seeded: Seeded) -> None:
    page: Page = chromium.new_page(viewport={"width": 390, "height": 844})
    AnnotatePage(page).open(address, "test_the_card_fits_a_phone")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator('[data-part="submit"]')).to_be_in_viewport()
    page.close()


def test_a_verdict_given_while_the_server_is_gone_is_saved_when_it_is_back(
    chromium: Browser, home: Home, seeded: Seeded, request: pytest.FixtureRequest
) -> None:
    port, log = pages.free_port(), home[0].home / "restarted.log"
    page = chromium.new_page()
    desk = AnnotatePage(page)
    with pages.served(seeded.home, log, port) as url:
        desk.open(url, request.node.name)
        question = desk.question()
    desk.press("2", "Enter")
    expect(desk.part("problem")).to_contain_text("kept on this computer", timeout=20_000)
    assert (desk.question(), desk.ticked(), labelled(seeded)) == (question, [1], 0)
    with pages.served(seeded.home, log, port):
        expect(desk.part("saved")).to_contain_text("Saved", timeout=60_000)
        assert desk.question() != question
    assert labelled(seeded) == 1
    page.close()

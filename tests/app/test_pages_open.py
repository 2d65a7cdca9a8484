"""Every page opens in every state of a project, says what to do next, and loads no model."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.services import jobs, labels
from app.services.jobs import JobKind
from app.theme import ENTRY
from elical_core.domain import Stage
from tests.browser import seeding
from tests.browser.seeding import Seeded

PAGES = ("overview", "import_questions", "annotate", "quality", "jobs")
Open = Callable[..., AppTest]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder that the pages of this test use."""
    folder = tmp_path / "home"
    monkeypatch.setenv("ELICAL_HOME", str(folder))
    yield folder
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture
def seeded(home: Path) -> Iterator[Seeded]:
    made = seeding.seed(home, questions=40, drawn=30)
    yield made
    made.database.close()


def open_page(name: str = "overview") -> AppTest:
    at = AppTest.from_file(str(ENTRY), default_timeout=30).run()
    return at if name == "overview" else at.switch_page(f"app_pages/{name}.py").run()


def literals(at: AppTest) -> list[str]:
    """The text of every literal element, and of the annotation card's question."""
    found = []
    for element in at.get("bidi_component"):
        data = json.loads(element.proto.json or "{}") if element.proto.WhichOneof("data") == "json" else {}
        found.append(data.get("text", ""))
    return found


def said(at: AppTest) -> str:
    return "\n".join([*literals(at), *(m.value for m in at.markdown), *(c.value for c in at.caption)])


def every_page() -> Iterator[AppTest]:
    at = AppTest.from_file(str(ENTRY), default_timeout=30).run()
    for name in PAGES:
        yield at.switch_page(f"app_pages/{name}.py").run()


def test_pages_open_without_a_project(home: Path) -> None:
    _, database, _ = seeding.empty_home(home)
    for at in every_page():
        assert not at.exception
        assert "demo" in said(at)
    database.close()


@pytest.mark.parametrize("labelled", [0, 1, 20])
def test_pages_open_at_every_number_of_labels(seeded: Seeded, labelled: int) -> None:
    assert seeding.label(seeded, labelled) == labelled
    assert not [at.exception for at in every_page() if at.exception]


def test_pages_open_before_sampling_and_after_calibration(home: Path) -> None:
    settings, database, who = seeding.empty_home(home)
    seeding.add_project(settings, database, who, name="a", questions=5, sampled=False)
    done = seeding.add_project(settings, database, who, name="b", questions=40, drawn=30)
    seeding.label(done, 30)
    seeding.add_checkpoint(done, Stage.CALIBRATION, "stage-2", sharpness=1.5)
    for at in every_page():
        assert not at.exception
        assert not at.sidebar.selectbox(key="project").select("b").run().exception
        at.sidebar.selectbox(key="project").select("a").run()
    database.close()


def test_a_missing_database_is_one_red_sentence(home: Path) -> None:
    at = open_page()
    assert not at.exception
    assert any("elical init" in text for text in literals(at))


def test_overview_offers_the_next_step_and_starts_it_once(home: Path) -> None:
    settings, database, who = seeding.empty_home(home)
    made = seeding.add_project(settings, database, who, questions=5, sampled=False)
    at = open_page()
    assert at.button(key="next_step").label == "Prepare for labelling"
    at.button(key="next_step").click().run()
    assert not at.exception
    (job,) = jobs.list_jobs(settings, made.project_id)
    assert job.kind is JobKind.PREPARE
    assert at.button(key="next_step").disabled
    assert "waiting for its turn" in next(progress.text for progress in at.get("progress"))
    database.close()


def test_overview_sends_to_labelling(seeded: Seeded) -> None:
    at = open_page()
    assert at.button(key="next_step").label == "Label questions"
    assert [m.label for m in at.metric][:2] == ["Labels used", "Time spent labelling"]


def test_first_run_makes_a_project_and_chooses_it(home: Path) -> None:
    _, database, _ = seeding.empty_home(home)
    at = open_page()
    at.text_input(key="new_name").set_value("*Stars* cost $5, then $7")
    at.number_input(key="new_k").set_value(5)
    at.button[-1].click().run()
    assert not at.exception
    assert at.sidebar.selectbox(key="project").value == "*Stars* cost $5, then $7"
    assert "*Stars* cost $5, then $7" in literals(at)
    assert at.button(key="next_step").label == "Import questions"
    database.close()


def test_a_taken_name_is_refused_in_words(seeded: Seeded) -> None:
    at = open_page()
    at.text_input(key="new_name").set_value("Capital facts")
    next(b for b in at.button if b.label == "Create project").click().run()
    assert not at.exception
    assert any("already a project named" in text for text in literals(at))


def test_quality_refuses_stage_2_without_labels_and_says_why(seeded: Seeded) -> None:
    at = open_page("quality")
    assert at.button(key="calibrate").disabled
    assert "no training labels yet" in said(at)


def test_quality_starts_stage_2(seeded: Seeded) -> None:
    seeding.label(seeded, 20)
    at = open_page("quality")
    at.button(key="calibrate").click().run()
    assert [job.kind for job in jobs.list_jobs(seeded.settings, seeded.project_id)] == [JobKind.CALIBRATE]
    assert at.button(key="calibrate").disabled


def test_quality_counts_what_the_overview_counts(seeded: Seeded) -> None:
    seeding.label(seeded, 20)
    counts = labels.label_counts(seeded.database, seeded.who, seeded.project_id)
    assert open_page("quality").button(key="calibrate").label == f"Train Stage 2 on {counts.train} labels"
    assert open_page().metric[0].value == f"{counts.labelled} of 100"


def test_a_queued_job_can_be_cancelled(seeded: Seeded) -> None:
    job_id = jobs.submit(seeded.settings, seeded.who, JobKind.SAMPLE, seeded.project_id)
    at = open_page("jobs")
    at.button(key=f"cancel_{job_id}").click().run()
    assert not at.exception
    assert jobs.get_job(seeded.settings, job_id).state == "cancelled"
    assert at.dataframe[0].value["state"].tolist() == ["cancelled"]


def test_importing_a_file_shows_it_as_it_will_be_stored(seeded: Seeded) -> None:
    at = open_page("import_questions")
    rows = b"question,answer,id\nHow much? $5 or $7 *x*,:smile:,q1\n,nothing,q2\nAgain?,yes,tricky\n"
    at.file_uploader(key="upload").upload("questions.csv", rows).run()
    assert not at.exception
    preview = at.dataframe[0].value
    assert preview["question"].tolist() == ["How much? $5 or $7 *x*", "Again?"]
    metrics = {metric.label: metric.value for metric in at.metric}
    assert metrics == {"New": "1", "Identical": "0", "Conflicting": "1", "Unusable": "1"}
    assert at.button(key="import").label == "Import 1 question"
    at.button(key="import").click().run()
    assert not at.exception
    assert any("Imported 1 question" in text for text in literals(at))


def test_an_unknown_header_can_be_mapped(seeded: Seeded) -> None:
    at = open_page("import_questions")
    at.file_uploader(key="upload").upload("odd.csv", b"was,wer\nWarum?,Darum\n").run()
    assert any("no column with a known name" in text for text in literals(at))
    at.selectbox(key="map_question_odd.csv").select("was").run()
    at.selectbox(key="map_answer_odd.csv").select("wer").run()
    assert not at.exception
    assert at.dataframe[0].value["reference answers"].tolist() == ["Darum"]
    assert at.button(key="import").label == "Import 1 question"


def test_an_unusable_file_is_one_red_sentence(seeded: Seeded) -> None:
    at = open_page("import_questions")
    at.file_uploader(key="upload").upload("picture.csv", b"\x89PNG\r\n\x1a\n" + bytes(200)).run()
    assert not at.exception
    assert any("picture" in text for text in literals(at))
    assert not [button for button in at.button if button.key == "import"]


def test_the_pages_load_no_model(seeded: Seeded) -> None:
    code = f"""
import sys
from streamlit.testing.v1 import AppTest
at = AppTest.from_file({str(ENTRY)!r}, default_timeout=60).run()
for name in {PAGES[1:]!r}:
    at.switch_page(f"app_pages/{{name}}.py").run()
    assert not at.exception, at.exception
sys.exit("torch" in sys.modules or "transformers" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]

"""The main job through a browser: label with the keyboard, reload, train Stage 2, see the chart change."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.commands.demo import label_by_references
from app.commands.home_folder import Home
from app.services import jobs, labels
from app.services.jobs import JobKind, JobState
from tests.browser import pages
from tests.browser.pages import AnnotatePage, QualityPage
from tests.loop import FAST, make_home, run, working

pytestmark = pytest.mark.browser

DRAWN = 30
LABELLED_BEFORE = 20


@pytest.fixture
def home(tmp_path: Path, packaged_home: Path) -> Iterator[Home]:
    """A project whose Stage 1 is trained and whose first questions are labelled, with a worker that is alive."""
    made = make_home(tmp_path / "home", packaged_home / "models")
    with working(made.settings) as worker:
        run(made, worker, JobKind.SAMPLE)
        run(made, worker, JobKind.ELICIT, settings=FAST)
        run(made, worker, JobKind.SELECT, n=DRAWN)
        label_by_references(made, 1, LABELLED_BEFORE)
        yield made
    made.database.close()


def test_five_labels_a_reload_and_stage_2(home: Home) -> None:
    with pages.served(home.settings.home, home.settings.logs / "pages.log") as address, pages.browser() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        annotate = AnnotatePage(page)
        annotate.open(address)
        for number in range(5):  # what the reference answers have ticked is confirmed, the rest is judged by turns
            annotate.verdict(*(("Enter",) if annotate.ticked() else ("1", "Enter") if number % 2 else ("n",)))
        counts = labels.label_counts(home.database, home.who, 1)
        assert counts.labelled == LABELLED_BEFORE + 5
        standing = annotate.question()
        page.reload()
        pages.settled(page)
        assert annotate.question() == standing
        assert f"{counts.labelled} of" in annotate.progress()

        quality = QualityPage(page)
        quality.open(address)
        before, sentence = quality.points(), quality.sentence()
        assert "Stage 2 (LoRA)" not in quality.legend()
        quality.calibrate()
        [job] = [job for job in jobs.list_jobs(home.settings, 1) if job.kind is JobKind.CALIBRATE]
        *_, job = jobs.wait(home.settings, job.id)
        assert job.state is JobState.SUCCEEDED, job.error
        page.wait_for_selector(".st-key-curve .legendtext:has-text('Stage 2 (LoRA)')", timeout=60_000)
        pages.settled(page)
        assert quality.points() > before
        assert quality.sentence() != sentence
        assert "Stage 2" in quality.sentence()
        page.close()

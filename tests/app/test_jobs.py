"""Jobs: queued, refused, cancelled, failed with one sentence, taken up again; the worker of a home folder is one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.deps import open_database
from app.services import actors, home, jobs, projects
from app.services.actors import Actor
from app.services.jobs import JobKind, JobState
from app.settings import Settings
from app.stages.context import Reporter
from app.worker import running
from elical_core.domain import Role
from elical_core.errors import Conflict, JobCancelled, JobError, JobRefused, NotAllowed, NotFound
from elical_core.models.prompt import default_prompt


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = Settings.at(tmp_path / "home")
    home.init(made)
    return made


@pytest.fixture
def who(settings: Settings) -> Iterator[Actor]:
    database = open_database(settings)
    yield actors.local_admin(database)
    database.close()


def make_project(settings: Settings, who: Actor) -> int:
    database = open_database(settings)
    project = projects.create_project(
        database, who, name="p", model_id="packaged", prompt=default_prompt("few-shot").to_json()
    )
    database.close()
    return project.id


def test_two_equal_jobs_of_one_project_are_refused(settings: Settings, who: Actor) -> None:
    first = jobs.submit(settings, who, JobKind.ELICIT, 1)
    with pytest.raises(JobRefused, match="elicit job is already queued or running"):
        jobs.submit(settings, who, JobKind.ELICIT, 1)
    jobs.submit(settings, who, JobKind.ELICIT, 2)
    jobs.submit(settings, who, JobKind.CALIBRATE, 1)
    jobs.cancel(settings, who, first)
    jobs.submit(settings, who, JobKind.ELICIT, 1)


def test_jobs_are_listed_by_project_newest_first(settings: Settings, who: Actor) -> None:
    ids = [jobs.submit(settings, who, kind, 1) for kind in (JobKind.SAMPLE, JobKind.ELICIT)]
    jobs.submit(settings, who, JobKind.SAMPLE, 11)
    assert {job.id for job in jobs.list_jobs(settings, 1)} == set(ids)
    assert len(jobs.list_jobs(settings)) == 3


def test_a_queued_job_is_cancelled_at_once_and_only_once(settings: Settings, who: Actor) -> None:
    job_id = jobs.submit(settings, who, JobKind.SAMPLE, 1)
    jobs.cancel(settings, who, job_id)
    assert jobs.get_job(settings, job_id).state is JobState.CANCELLED
    with pytest.raises(JobError, match="nothing to cancel"):
        jobs.cancel(settings, who, job_id)


def test_only_an_admin_starts_and_stops_jobs(settings: Settings, who: Actor) -> None:
    annotator = Actor(id=2, name="ann", role=Role.ANNOTATOR)
    with pytest.raises(NotAllowed):
        jobs.submit(settings, annotator, JobKind.SAMPLE, 1)
    job_id = jobs.submit(settings, who, JobKind.SAMPLE, 1)
    with pytest.raises(NotAllowed):
        jobs.cancel(settings, annotator, job_id)


def test_an_unknown_job_is_named(settings: Settings) -> None:
    with pytest.raises(NotFound, match="no job 'nope'"):
        jobs.get_job(settings, "nope")


def test_a_failing_job_says_one_sentence_and_keeps_its_log(settings: Settings, who: Actor) -> None:
    project_id = make_project(settings, who)
    job_id = jobs.submit(settings, who, JobKind.SELECT, project_id, n=5)
    with running(settings):
        *_, job = jobs.wait(settings, job_id)
    assert job.state is JobState.FAILED
    assert job.error == "there is no Stage-1 model yet; run `elical elicit` before selecting questions"
    assert "there is no Stage-1 model yet" in jobs.log_tail(settings, job_id)


def test_a_fault_of_ours_keeps_its_traceback_in_the_log(settings: Settings, who: Actor) -> None:
    job_id = jobs.submit(settings, who, JobKind.SELECT, 1, n="many", settings={"audit_share": "half"})
    with running(settings):
        *_, job = jobs.wait(settings, job_id)
    assert job.state is JobState.FAILED
    assert job.error


def test_one_home_folder_has_one_worker(settings: Settings) -> None:
    assert not jobs.worker_is_alive(settings)
    with running(settings):
        assert jobs.worker_is_alive(settings)
        with pytest.raises(Conflict, match="a worker already runs"), running(settings):
            pass
    assert not jobs.worker_is_alive(settings)


def test_progress_is_told_at_most_once_a_second_and_with_its_rate() -> None:
    now, told = [0.0], list[dict[str, object]]()
    report = Reporter(told.append, lambda: False, clock=lambda: now[0])
    for done in range(11):
        report(done, 10, "sampling")
        now[0] += 0.25  # four a second
    assert [event["done"] for event in told] == [0, 4, 8, 10]
    assert told[1]["rate"] == pytest.approx(4)
    assert told[1]["seconds_left"] == pytest.approx(1.5)  # 6 left at 4 a second


def test_a_cancelled_stage_stops_at_its_next_look() -> None:
    now, cancelled = [0.0], [False]
    report = Reporter(lambda _: None, lambda: cancelled[0], clock=lambda: now[0])
    report(1, 10, "training")
    cancelled[0] = True
    now[0] = 1.0
    report(2, 10, "training")  # asked less than two seconds ago
    now[0] = 2.0
    with pytest.raises(JobCancelled, match="3 of 10 done; what was stored is kept"):
        report(3, 10, "training")

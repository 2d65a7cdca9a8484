"""elical demo: a project on the packaged model and corpus, then the app; or the whole loop without a browser."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from app.commands.home_folder import Home, note, opened, print_json, run_job
from app.commands.running import Address, Port, serve
from app.services import home as home_service
from app.services import importing, jobs, labelling, measurements, projects
from app.services.jobs import FIRST_BATCH, ROUND, JobKind
from app.services.labelling import AnnotationItem, Outcome
from app.services.projects import ProjectView
from app.settings import Settings
from elical_core.config import SamplingConfig
from elical_core.consistency import judge
from elical_core.demo import corpus
from elical_core.domain import Relation
from elical_core.models.prompt import default_prompt

NAME = "demo"
HEADLINE = ("auroc", "auroc_difference", "brier", "brier_difference", "ece", "signed_gap", "accuracy", "accuracy_at_80")


def demo(
    questions: Annotated[int | None, typer.Option(min=60, help="Questions of the corpus to use; else all.")] = None,
    headless: Annotated[bool, typer.Option(help="Run the whole loop without a browser and print it as JSON.")] = False,
    labels: Annotated[int, typer.Option(min=20, help="With --headless: questions that the gold answers label.")] = 60,
    port: Port = 8501,
    address: Address = "127.0.0.1",
) -> None:
    """A project on the packaged model and corpus, ready to label within minutes."""
    settings = Settings.from_env()
    home_service.init(settings)
    with opened() as home:
        project, is_new = _demo_project(home, questions)
        if headless:
            print_json(_whole_loop(home, project, labels))
            return
        if is_new:
            jobs.submit(settings, home.who, JobKind.PREPARE, project.id, first=FIRST_BATCH, n=ROUND)
    note("The first questions are ready to label in a few minutes; the overview page shows how far it is.")
    serve(settings, address=address, port=port)


def _demo_project(home: Home, questions: int | None) -> tuple[ProjectView, bool]:
    existing = [p for p in projects.list_projects(home.database, home.who) if p.name == NAME]
    if existing:
        return existing[0], False
    project = projects.create_project(
        home.database,
        home.who,
        name=NAME,
        model_id="packaged",
        prompt=default_prompt("few-shot").to_json(),
        sampling=SamplingConfig(),
    )
    records = corpus()[:questions]
    report = importing.add_questions(home.database, home.who, project.id, records, name="demo corpus")
    note(f"demo project: {report.imported} questions")
    return project, True


def _whole_loop(home: Home, project: ProjectView, n: int) -> dict[str, Any]:
    """sample, elicit, select, label by the gold answers, calibrate; the metrics before and after."""
    seconds: dict[str, float] = {}

    def timed(kind: JobKind, **options: Any) -> dict[str, Any]:
        began = time.monotonic()
        result = run_job(home, kind, project.id, **options).result
        seconds[kind.value] = round(time.monotonic() - began, 1)
        return result

    sampled = timed(JobKind.SAMPLE)
    timed(JobKind.ELICIT)
    timed(JobKind.SELECT, n=n)
    began = time.monotonic()
    labelled = label_by_references(home, project.id, n)
    seconds["label"] = round(time.monotonic() - began, 1)
    timed(JobKind.CALIBRATE)
    return {
        "project": project.name,
        "sampled": sampled["sampled"],
        "labelled": labelled,
        "seconds": seconds,
        "metrics": {
            stream: {metric: sides for metric, sides in found.items() if metric in HEADLINE}
            for stream, found in measurements.before_and_after(home.database, home.who, project.id).items()
        },
    }


def label_by_references(home: Home, project_id: int, n: int) -> int:
    """Label the next ``n`` drawn questions as somebody would who knows the reference answers; how many there were."""
    for done in range(n):
        item = labelling.next_item(home.database, home.who, project_id)
        if item is None:
            return done
        ticked = gold_ticks(item)
        labelling.submit(
            home.database,
            home.who,
            question_id=item.question_id,
            lease_token=item.lease_token,
            ticked=ticked,
            outcome=Outcome.JUDGED,
            client_key=item.client_key,
            seconds=0.0,
        )
    return n


def gold_ticks(item: AnnotationItem) -> set[int]:
    """The clusters whose answer means the same as one of the question's reference answers."""
    decided = judge(item.text, [answer.text for answer in item.answers], item.reference_answers)
    return {a.cluster_id for a, d in zip(item.answers, decided, strict=True) if d.relation is Relation.SAME}

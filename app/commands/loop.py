"""sample, elicit, select, calibrate: one turn of the loop, each a durable job."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from app.commands.home_folder import AsJson, ProjectName, opened, print_json, run_job, say
from app.services import projects
from app.services.jobs import JobKind
from elical_core.errors import ConfigError
from elical_core.selection import SELECTORS

Seed = Annotated[int | None, typer.Option(help="Seed of this run; the project's own by default.")]
Epochs = Annotated[float | None, typer.Option(help="Passes over the questions.")]
LearningRate = Annotated[float | None, typer.Option(help="Peak learning rate.")]


def sample(
    name: ProjectName,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many questions.")] = None,
    backend: Annotated[str, typer.Option(help="auto or transformers.")] = "auto",
    as_json: AsJson = False,
) -> None:
    """Sample answers to the questions that have none yet: one greedy, k at random."""
    if backend not in {"auto", "transformers"}:
        raise ConfigError(f"--backend {backend} is not available; use auto or transformers")
    result = _run(name, JobKind.SAMPLE, limit=limit)
    _tell(result, as_json, f"{result['sampled']} questions answered. Next: elical elicit {name}")


def elicit(
    name: ProjectName,
    epochs: Epochs = None,
    learning_rate: LearningRate = None,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Stage 1: train the confidence model on the consistency of sampled answers. Needs no labels."""
    result = _run(name, JobKind.ELICIT, settings=_given(epochs=epochs, learning_rate=learning_rate, seed=seed))
    _tell(result, as_json, f"Stage 1 is trained. Next: elical select {name} --n 50")


def select(
    name: ProjectName,
    n: Annotated[int, typer.Option("--n", min=1, help="Questions to draw for labelling.")],
    strategy: Annotated[str | None, typer.Option(help=f"{', '.join(SELECTORS)}; stratified by default.")] = None,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Draw the questions that people label next, a quarter of them for measuring only."""
    result = _run(name, JobKind.SELECT, n=n, settings=_given(policy=strategy, seed=seed))
    _tell(result, as_json, f"{result['drawn']} questions are ready to be labelled. Next: elical up, page Annotate")


def calibrate(
    name: ProjectName,
    epochs: Epochs = None,
    learning_rate: LearningRate = None,
    seed: Seed = None,
    as_json: AsJson = False,
) -> None:
    """Stage 2: continue from Stage 1 on the labels, then measure."""
    result = _run(name, JobKind.CALIBRATE, settings=_given(epochs=epochs, learning_rate=learning_rate, seed=seed))
    _tell(result, as_json, f"Stage 2 learned from {result['labels']} labels. Next: elical evaluate {name}")


def _run(name: str, kind: JobKind, **options: Any) -> dict[str, Any]:
    with opened() as home:
        project = projects.project_by_name(home.database, home.who, name)
        return run_job(home, kind, project.id, **options).result


def _given(**options: object) -> dict[str, object]:
    return {key: value for key, value in options.items() if value is not None}


def _tell(result: dict[str, Any], as_json: bool, sentence: str) -> None:
    if as_json:
        print_json(result)
    else:
        say(sentence)

"""evaluate and score: what a confidence model is worth, and what it says of new questions."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from app.commands.home_folder import AsJson, Home, note, opened, print_json, run_job, say
from app.services import measurements, projects
from app.services.jobs import JobKind
from elical_core.datasets.scored import read_scored
from elical_core.datasets.texts import read_texts
from elical_core.domain import Measured
from elical_core.errors import ConfigError
from elical_core.metrics import evaluate as evaluate_scores

SHOWN = ("auroc", "brier", "ece", "signed_gap", "accuracy", "accuracy_at_80")


def evaluate(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="The project's name.")] = None,
    scores: Annotated[
        Path | None,
        typer.Option(help="Instead of a project: JSONL or CSV rows {confidence, correct[, group]} made by any tool."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Questions with reference answers, answered and measured now."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Metrics with 95% intervals: of a project's checkpoints, or of confidences made anywhere."""
    if (name is None) == (scores is None) or (data is not None and name is None):
        raise ConfigError("evaluate takes a project's NAME, with --data FILE if wanted, or --scores FILE")
    if scores is not None:
        confidence, correct, group = read_scored(scores)
        _print_table(str(scores), evaluate_scores(confidence, correct, group=group), as_json)
        return
    assert name is not None
    with opened() as home:
        project = projects.project_by_name(home.database, home.who, name)
        if data is not None:
            from app.commands.measuring_file import measure_file

            _print_table(str(data), measure_file(home, project, data), as_json)
            return
        run_job(home, JobKind.EVALUATE, project.id)
        found = measurements.list_measurements(home.database, home.who, project.id)
        if as_json:
            print_json(found)
            return
        for item in found:
            if item.measured.metric in SHOWN:
                say(f"{item.estimator:12} {item.n_labels:5} labels  {item.stream:9}  {_line(item.measured)}")


def score(
    target: Annotated[str, typer.Argument(metavar="CHECKPOINT_OR_NAME", help="A checkpoint folder or a project.")],
    questions: Annotated[str, typer.Option(help="A question file, or - for one question a line on standard input.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="JSONL file; standard output otherwise.")
    ] = None,
) -> None:
    """How likely the model's answer to each question is to be correct, before it answers. One JSON object a line."""
    from elical_core import ConfidenceModel

    texts, contexts = read_texts(sys.stdin if questions == "-" else Path(questions))
    with opened() as home:
        folder = Path(target) if Path(target).is_dir() else _of_project(home, target)
        confidence = ConfidenceModel.load(folder, home=home.settings.home).score(texts, contexts)
    lines = (
        json.dumps({"question": text, "confidence": round(float(value), 6)}, ensure_ascii=False)
        for text, value in zip(texts, confidence, strict=True)
    )
    if output is None:
        for line in lines:
            say(line)
    else:
        output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        note(f"{len(texts)} questions scored into {output}")


def _of_project(home: Home, name: str) -> Path:
    from app.commands.measuring_file import current_model

    return current_model(home, projects.project_by_name(home.database, home.who, name))


def _print_table(title: str, found: list[Measured], as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    say(title)
    for measured in found:
        say(f"  {_line(measured)}")


def _line(measured: Measured) -> str:
    """``auroc            .803  [.741, .852]  n=210``; an undefined value says why."""
    left_out = f", {measured.left_out} left out" if measured.left_out else ""
    if measured.value is None:
        return f"{measured.metric:22} {measured.reason}  (n={measured.n}{left_out})"
    interval = "" if measured.low is None else f"[{measured.low:.3f}, {measured.high:.3f}]"
    return f"{measured.metric:22} {measured.value:7.3f}  {interval:18} n={measured.n}{left_out}"

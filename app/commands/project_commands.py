"""elical project: create, list, show."""

from __future__ import annotations

from typing import Annotated

import typer

from app.commands.home_folder import AsJson, ProjectName, note, opened, print_json, say
from app.services import progress, projects
from elical_core.config import SamplingConfig
from elical_core.models.prompt import load_prompt

app = typer.Typer(help="Create, list and show projects.", no_args_is_help=True)


@app.command()
def create(
    name: ProjectName,
    model: Annotated[
        str,
        typer.Option(help="packaged (Gemma 3 270M), a hub id, a folder, or a GGUF file."),
    ] = "packaged",
    revision: Annotated[str | None, typer.Option(help="Revision of a hub model.")] = None,
    prompt: Annotated[
        str, typer.Option(help="few-shot (base models), chat (instruct models), or a file.")
    ] = "few-shot",
    k: Annotated[
        int, typer.Option(help="Sampled answers a question; 5 is nearly as good and four times as fast.")
    ] = 20,
    max_new_tokens: Annotated[int, typer.Option(help="Longest answer, in tokens.")] = 16,
    budget: Annotated[int, typer.Option(help="Questions that people may label.")] = 250,
    as_json: AsJson = False,
) -> None:
    """Make an empty project. The model is looked up now, so that a wrong name is told at once."""
    from elical_core.models.check import check_prompt
    from elical_core.models.locate import locate

    with opened() as home:
        sampling = SamplingConfig(k=k, max_new_tokens=max_new_tokens)
        words = load_prompt(prompt)
        source = locate(model, home=home.settings.home, revision=revision, tell=note)
        check_prompt(source, words, sampling.max_prompt_tokens)
        project = projects.create_project(
            home.database,
            home.who,
            name=name,
            model_id=model,
            model_revision=revision,
            prompt=words.to_json(),
            sampling=sampling,
            budget=budget,
        )
        if as_json:
            print_json(project)
        else:
            say(f"project {project.name} is ready. Next: elical import {project.name} FILE")


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """All projects with their next step."""
    with opened() as home:
        found = projects.list_projects(home.database, home.who)
        states = [progress.project_state(home.database, home.who, project.id) for project in found]
        if as_json:
            print_json([{"project": p, "state": s} for p, s in zip(found, states, strict=True)])
        elif not found:
            say("no projects yet. Next: elical project create NAME --model packaged, or elical demo")
        for project, state in zip(found, states, strict=True):
            if not as_json:
                say(f"{project.name:20}  {project.model_id:30}  next: {state.next_step}")


@app.command()
def show(name: ProjectName, as_json: AsJson = False) -> None:
    """One project: counts, checkpoints, next step."""
    with opened() as home:
        project = projects.project_by_name(home.database, home.who, name)
        state = progress.project_state(home.database, home.who, project.id)
        if as_json:
            print_json({"project": project, "state": state})
            return
        say(f"{project.name}: {project.model_id}, k={project.sampling.k}, budget {project.budget} labels")
        say(
            "questions: " + ", ".join(f"{n} {split}" for split, n in state.questions.items()) + "; "
            f"{state.sampled} answered, {state.labelled_train + state.labelled_audit} labelled"
        )
        say(f"next step: {state.next_step}: {state.reason}")

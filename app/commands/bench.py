"""elical bench: speed as ratios measured in one run, never asserted in a test."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.commands.home_folder import AsJson, note, print_json, say
from app.settings import Settings
from elical_core.confidence.items import TrainingItem
from elical_core.config import SamplingConfig
from elical_core.datasets.texts import read_texts
from elical_core.demo import corpus
from elical_core.models.prompt import load_prompt

app = typer.Typer(help="Measure speed on this machine.", no_args_is_help=True)

Model = Annotated[str, typer.Option(help="packaged, a hub id, a folder, or a GGUF file.")]
Questions = Annotated[Path | None, typer.Option(help="A question file; the demo corpus otherwise.")]


@app.command()
def sampling(
    model: Model = "packaged",
    questions: Questions = None,
    n: Annotated[int, typer.Option("--n", min=8, help="Questions sampled by EliCal.")] = 96,
    baseline: Annotated[int, typer.Option(min=1, help="Questions sampled by generate().")] = 6,
    k: Annotated[int, typer.Option(help="Sampled answers a question.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Questions a second against generate(num_return_sequences=k), and the share of the machine's matmul rate."""
    from elical_core.models.load import load_model
    from elical_core.models.locate import locate
    from elical_core.sampling.bench import bench_sampling

    texts = _texts(questions, n)
    loaded = load_model(locate(model, home=Settings.from_env().home))
    note(f"sampling {len(texts)} questions, then {min(baseline, len(texts))} with generate()")
    _print(
        bench_sampling(loaded, load_prompt("few-shot"), texts, config=SamplingConfig(k=k), baseline_questions=baseline),
        as_json,
    )


@app.command()
def training(
    model: Model = "packaged",
    questions: Questions = None,
    n: Annotated[int, typer.Option("--n", min=32, help="Questions trained on.")] = 512,
    as_json: AsJson = False,
) -> None:
    """Questions a second against a plain padded fp32 loop with the same LoRA and head."""
    from elical_core.confidence.bench import bench_training
    from elical_core.models.load import load_model
    from elical_core.models.locate import locate

    texts = _texts(questions, n)
    loaded = load_model(locate(model, home=Settings.from_env().home))
    items = [
        TrainingItem(key=str(i), text=text, target=i % 21 / 20, group=str(i)) for i, text in enumerate(texts)
    ]  # any target does: the time of a step does not depend on it
    _print(bench_training(loaded, load_prompt("few-shot"), items), as_json)


def _texts(questions: Path | None, n: int) -> list[str]:
    if questions is None:
        return [record.text for record in corpus()][:n]
    return read_texts(questions)[0][:n]


def _print(figures: dict[str, object], as_json: bool) -> None:
    if as_json:
        print_json(figures)
        return
    for name, value in figures.items():
        say(f"{name:32} {value:,.3g}" if isinstance(value, float) else f"{name:32} {value}")

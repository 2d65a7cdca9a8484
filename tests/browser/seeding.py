"""A home folder with a project in any state, made through the services and without a model."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.deps import open_database
from app.services import checkpoints, generations, importing, labelling, labels, projects, rounds, score_files
from app.services import home as home_service
from app.services.actors import Actor, local_admin
from app.services.labelling import Outcome
from app.services.rounds import DrawnQuestion
from app.settings import Settings
from db.engine import Database
from elical_core.config import SamplingConfig, SelectionConfig
from elical_core.demo import corpus
from elical_core.domain import (
    Answer,
    AnswerClass,
    ClusterRecord,
    Consistency,
    DecidingStep,
    GenerationRecord,
    QuestionRecord,
    Split,
    Stage,
    Stream,
)

LITERAL = (
    "costs $5, then $7",
    "*x*",
    "# h",
    ":smile:",
    "<b>bold</b>",
    "line one\n  line two",
    "`code` [link](x) -> $x$",
)
TRICKY = QuestionRecord(
    external_id="tricky",
    text="What does it say? costs $5, then $7 *x* :smile: <b>",
    context="# not a heading\n\n* not a list, $a$ and $b$",
    domain="literal",
    metadata={"note": "*as it is*"},
)


@dataclass(frozen=True, kw_only=True)
class Seeded:
    """A home folder, open. ``questions`` are in the order in which they are shown for labelling."""

    settings: Settings
    database: Database
    who: Actor
    project_id: int
    questions: tuple[int, ...]

    @property
    def home(self) -> Path:
        return self.settings.home


def empty_home(folder: Path) -> tuple[Settings, Database, Actor]:
    """Initialised, without a project."""
    settings = Settings.at(folder)
    home_service.init(settings)
    database = open_database(settings)
    return settings, database, local_admin(database)


def seed(folder: Path, **options: Any) -> Seeded:
    """A new home folder with one project; ``options`` as for ``add_project``."""
    settings, database, who = empty_home(folder)
    return add_project(settings, database, who, **options)


def add_project(
    settings: Settings,
    database: Database,
    who: Actor,
    *,
    name: str = "Capital facts",
    questions: int = 60,
    drawn: int = 40,
    sampled: bool = True,
    k: int = 8,
) -> Seeded:
    """A project with questions; with answers, a Stage-1 checkpoint and a round of ``drawn`` when ``sampled``."""
    project = projects.create_project(
        database,
        who,
        name,
        model_id="packaged",
        prompt={"kind": "few-shot", "text": "Q: {question}\nA:"},
        sampling=SamplingConfig(k=k),
        guideline="A date needs its year. Spelling does not matter.",
        budget=100,
    )
    plain = [_pooled(record, row) for row, record in enumerate(corpus()[: questions - 1])]
    importing.add_questions(database, who, project.id, [TRICKY, *plain])
    seeded = Seeded(settings=settings, database=database, who=who, project_id=project.id, questions=())
    return _sampled(seeded, drawn, k) if sampled else seeded


def _pooled(record: QuestionRecord, row: int) -> QuestionRecord:
    """Every second question for the audit stream, and half of them without reference answers."""
    return QuestionRecord(
        external_id=record.external_id,
        text=record.text,
        domain=record.domain,
        reference_answers=record.reference_answers if row % 4 == 3 else (),
        metadata={"level": row % 3},
        split=Split.AUDIT if row % 2 else Split.POOL,
        group=record.group,
    )


def _sampled(seeded: Seeded, drawn: int, k: int) -> Seeded:
    chance = random.Random(7)
    asked = generations.unsampled(seeded.database, seeded.who, seeded.project_id, "seeded")
    gold = {record.external_id: record.reference_answers[0] for record in corpus() if record.reference_answers}
    others = sorted(set(gold.values()))
    records = []
    for number, request in enumerate(asked):
        wrong = list(LITERAL) if request.key == "tricky" else chance.sample(others, 3 + number % 8)
        texts = wrong if request.key == "tricky" else [gold[request.key], *wrong]
        if number % 7 == 3:
            texts.append("")
        records.append(_answers(request.question_id, texts, k, chance))
    generations.store(seeded.database, seeded.who, seeded.project_id, records)
    everything = generations.answered(seeded.database, seeded.who, seeded.project_id)
    stage1 = add_checkpoint(seeded, Stage.ELICITATION, "stage-1", sharpness=0.7)
    order = sorted(everything, key=lambda item: (item.external_id != "tricky", item.question_id))[:drawn]
    items = [
        DrawnQuestion(
            question_id=item.question_id,
            stream=Stream.AUDIT if item.split is Split.AUDIT else Stream.TRAIN,
            probability=0.5,
            reason="seeded",
        )
        for item in order
    ]
    rounds.add_round(
        seeded.database, seeded.who, seeded.project_id, items, config=SelectionConfig(), checkpoint_id=stage1
    )
    return Seeded(
        settings=seeded.settings,
        database=seeded.database,
        who=seeded.who,
        project_id=seeded.project_id,
        questions=tuple(item.question_id for item in order),
    )


def _answers(question_id: int, texts: list[str], k: int, chance: random.Random) -> tuple[GenerationRecord, Consistency]:
    """Every text at least once among max(k, len(texts)) samples; the greedy answer is one of them."""
    k = max(k, len(texts))
    said = texts + chance.choices(texts, k=k - len(texts))
    greedy = texts[0] if chance.random() < 0.35 else chance.choice(texts)

    def answer(text: str) -> Answer:
        return Answer(text=text, answer_class=AnswerClass.ANSWER if text else AnswerClass.EMPTY)

    clusters = tuple(
        ClusterRecord(
            representative=text,
            members=tuple(i for i, one in enumerate(said) if one == text),
            holds_greedy=text == greedy,
            step=DecidingStep.EXACT,
        )
        for text in texts
    )
    same = said.count(greedy)
    record = GenerationRecord(
        question_id=question_id,
        model_fingerprint="seeded",
        seed=0,
        greedy=answer(greedy),
        samples=tuple(answer(text) for text in said),
    )
    found = Consistency(clusters=clusters, target=same / k, reason="", same=same, different=k - same, unresolved=0)
    return record, found


def add_checkpoint(seeded: Seeded, stage: Stage, name: str, *, sharpness: float) -> int:
    """A checkpoint with scores that know the truth a little (``sharpness`` 0: not at all); gives its id."""
    chance = np.random.default_rng(len(name))
    everything = generations.answered(seeded.database, seeded.who, seeded.project_id)
    gold = {record.external_id: record.reference_answers for record in corpus()}
    right = np.array([item.greedy_answer in gold.get(item.external_id, ()) for item in everything])
    logit = sharpness * (2.0 * right - 1.0) + chance.normal(0, 1, len(right))
    folder = seeded.settings.checkpoints(seeded.project_id) / name
    folder.mkdir(parents=True)
    ids = [item.question_id for item in everything]
    features = chance.normal(0, 1, (len(ids), 16)) + 0.5 * right[:, None]
    score_files.write_scores(folder, ids, (1 / (1 + np.exp(-logit))).tolist())
    score_files.write_features(folder, ids, features.astype(np.float32))
    parent = checkpoints.newest_checkpoint(seeded.database, seeded.who, seeded.project_id, stage=Stage.ELICITATION)
    calibrated = stage is Stage.CALIBRATION
    learned = labels.training_labels(seeded.database, seeded.who, seeded.project_id) if calibrated else None
    return checkpoints.add_checkpoint(
        seeded.database,
        seeded.who,
        seeded.project_id,
        stage=stage,
        path=seeded.settings.relative(folder),
        settings={},
        seed=0,
        parent_id=parent.id if parent and calibrated else None,
        label_set_hash=learned.label_set_hash if learned else "",
        question_ids=learned.question_ids if learned else (),
    ).id


def label(seeded: Seeded, n: int) -> int:
    """Label the next ``n`` questions by the corpus's answers; gives how many there were."""
    gold = {record.external_id: record.reference_answers for record in corpus()}
    for done in range(n):
        item = labelling.next_item(seeded.database, seeded.who, seeded.project_id)
        if item is None:
            return done
        labelling.submit(
            seeded.database,
            seeded.who,
            question_id=item.question_id,
            lease_token=item.lease_token,
            ticked={a.cluster_id for a in item.answers if a.text in gold.get(item.external_id, ())},
            outcome=Outcome.JUDGED,
            client_key=item.client_key,
            seconds=6.0 + done % 9,
        )
    return n

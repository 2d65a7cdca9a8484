"""Several people and a large import at once: nobody gets another's question and no verdict is lost."""

from __future__ import annotations

import json
import multiprocessing
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sqlalchemy import func, select

from app.services import labelling, labels, users
from app.services.actors import Actor, actor_by_name
from app.services.label_import import import_labels
from app.services.labelling import Outcome
from db.engine import Database
from db.models import Lease, Verdict
from elical_core.domain import Role

PEOPLE, EACH = 8, 15


def _label(url: str, name: str, project_id: int, told: multiprocessing.Queue[tuple[str, int]]) -> None:
    database = Database.open(url)
    who = actor_by_name(database, name)
    for _ in range(EACH):
        item = labelling.next_item(database, who, project_id)
        assert item is not None
        saved = labelling.submit(
            database,
            who,
            question_id=item.question_id,
            lease_token=item.lease_token,
            ticked={item.main[0].cluster_id},
            outcome=Outcome.JUDGED,
            client_key=item.client_key,
            seconds=1,
        )
        told.put((name, saved.question_id))
    database.close()


def _import(url: str, project_id: int, file: str) -> None:
    database = Database.open(url)
    assert import_labels(database, actor_by_name(database, "local"), project_id, Path(file)).rejected == 0
    database.close()


def test_eight_people_label_while_labels_are_imported(
    database: Database, admin: Actor, fill: Callable[..., Any], tmp_path: Path
) -> None:
    project, other = fill(PEOPLE * EACH), fill(2000, name="large")
    names = [users.add_user(database, admin, f"person {i}", Role.ANNOTATOR).name for i in range(PEOPLE)]
    file = tmp_path / "labels.jsonl"
    with file.open("w") as lines:
        for i in range(2000):
            for answer in ("Paris", "Lyon", "Nice"):
                lines.write(json.dumps({"external_id": f"q{i}", "answer": answer, "value": "correct"}) + "\n")
    spawn = multiprocessing.get_context("spawn")
    told, url = spawn.Queue(), str(database.engine.url)
    workers = [spawn.Process(target=_label, args=(url, name, project.project_id, told)) for name in names]
    workers.append(spawn.Process(target=_import, args=(url, other.project_id, str(file))))
    for worker in workers:
        worker.start()
    saved = [told.get(timeout=240) for _ in range(PEOPLE * EACH)]
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0] * len(workers)
    assert Counter(name for name, _ in saved) == dict.fromkeys(names, EACH)
    assert len({question for _, question in saved}) == PEOPLE * EACH  # no question went to two people
    assert labels.label_counts(database, admin, project.project_id).labelled == PEOPLE * EACH
    assert labels.label_counts(database, admin, other.project_id).labelled == 2000
    with database.read.begin() as session:
        assert session.scalar(select(func.count()).select_from(Verdict)) == 3 * (PEOPLE * EACH + 2000)
        assert session.scalar(select(func.count()).select_from(Lease)) == PEOPLE * EACH

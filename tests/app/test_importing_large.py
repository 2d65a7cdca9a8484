"""A large file: bounded memory, and other writers get their turn."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from app.services import projects
from app.services.actors import Actor
from app.settings import Settings
from db.engine import Database

ROWS = 500_000
MOST_MEGABYTES = 350  # of the whole process; 135 of them are the imported libraries

CODE = """
import resource, sys
from app.services import importing
from app.services.actors import actor_by_name
from db.engine import Database
database = Database.open(sys.argv[1])
report = importing.import_questions(database, actor_by_name(database, "local"), int(sys.argv[2]), sys.argv[3])
print(report.read, report.imported, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_half_a_million_rows_in_bounded_memory(
    database: Database, settings: Settings, admin: Actor, tmp_path: Path, kind: str
) -> None:
    project = projects.create_project(database, admin, "large", model_id="packaged", prompt={"kind": "few-shot"})
    path = tmp_path / f"large.{kind}"
    padding = "a note of some words " * 12
    with path.open("w", encoding="utf-8") as stream:
        if kind == "csv":
            stream.write("id,question,answer,note\n")
        for i in range(ROWS):
            if kind == "csv":
                stream.write(f"q{i},What is river number {i} of that country called?,River {i},{padding}\n")
            else:
                row = {"question": f"What is river number {i} called?", "answer": [f"River {i}"], "note": padding}
                stream.write(json.dumps(row) + "\n")
    assert path.stat().st_size > 150_000_000
    done = subprocess.run(
        [sys.executable, "-c", CODE, settings.database_url, str(project.id), str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
        timeout=1200,
    )
    read, imported, megabytes = map(int, done.stdout.split())
    assert read == imported == ROWS
    assert megabytes < MOST_MEGABYTES, resource.getrusage(resource.RUSAGE_CHILDREN)

"""What one worker process holds while it lives, and the log file of each job."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from app.services.actors import Actor
from app.services.jobs import log_path
from app.settings import Settings
from app.stages.context import ModelShelf, Reporter
from db.engine import Database

LOGGERS = ("elical", "elical_core")


@dataclass(frozen=True, kw_only=True)
class WorkerState:
    settings: Settings
    database: Database
    actor: Actor
    models: ModelShelf
    reporters: dict[str, Reporter] = field(default_factory=dict)  # one a job, so that its rate spans its steps


_state: WorkerState | None = None


def hold(state: WorkerState | None) -> None:
    """Set once when the worker starts (None when it stops): workflows are plain functions and find it here."""
    global _state
    _state = state


def worker() -> WorkerState:
    if _state is None:
        raise RuntimeError("workflows run inside a worker; start one with `elical worker`")
    return _state


@contextmanager
def job_log(settings: Settings, job_id: str) -> Iterator[None]:
    """Everything that this thread logs goes to the job's file until the block ends."""
    path = log_path(settings, job_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%d %H:%M:%S"))
    thread = threading.get_ident()
    handler.addFilter(lambda record: record.thread == thread)
    loggers = [logging.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        logger.setLevel(logging.INFO)
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
        handler.close()

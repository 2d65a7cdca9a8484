"""What a stage is given: the open database, a way to report progress, and the language model, loaded once a process."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.services.actors import Actor
from app.services.projects import ProjectView
from app.settings import Settings
from db.engine import Database
from elical_core.errors import JobCancelled
from elical_core.models.load import load_model
from elical_core.models.locate import locate
from elical_core.models.prompt import Prompt

if TYPE_CHECKING:
    from elical_core.models.load import LoadedModel

log = logging.getLogger("elical.jobs")


class Reporter:
    """Turns (done, total, step) into progress events, at most one a second, and stops the stage when it is cancelled.

    ``emit`` receives {step, done, total, rate, seconds_left}; ``cancelled`` is asked at most every two seconds.
    """

    def __init__(
        self,
        emit: Callable[[dict[str, Any]], None],
        cancelled: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._emit, self._cancelled, self._clock = emit, cancelled, clock
        self._step, self._began, self._done_at_start = "", clock(), 0
        self._last_emit = self._last_look = float("-inf")

    def __call__(self, done: int, total: int, step: str) -> None:
        now = self._clock()
        if now - self._last_look >= 2:
            self._last_look = now
            if self._cancelled():
                raise JobCancelled(f"cancelled while {step}: {done} of {total} done; what was stored is kept")
        if step != self._step:
            self._step, self._began, self._done_at_start = step, now, done
            log.info("%s: %d of %d", step, done, total)
        elif now - self._last_emit < 1 and done < total:
            return
        self._last_emit = now
        seconds, steps = now - self._began, done - self._done_at_start
        rate = steps / seconds if seconds > 0 and steps > 0 else None
        left = (total - done) / rate if rate else None
        self._emit({"step": step, "done": done, "total": total, "rate": rate, "seconds_left": left})


@dataclass
class ModelShelf:
    """The language models that this process has loaded, one for sampling and one for training, since training wraps
    LoRA around its own copy for as long as it runs."""

    home: Path
    _loaded: dict[tuple[str, str, str | None], LoadedModel] = field(default_factory=dict)

    def get(self, use: str, project: ProjectView) -> LoadedModel:
        key = (use, project.model_id, project.model_revision)
        if key not in self._loaded:
            for other in [k for k in self._loaded if k[0] == use]:
                del self._loaded[other]
            log.info("loading %s", project.model_id)
            source = locate(project.model_id, home=self.home, revision=project.model_revision)
            self._loaded[key] = load_model(source)
        return self._loaded[key]


@dataclass(frozen=True, kw_only=True)
class StageContext:
    settings: Settings
    database: Database
    who: Actor
    models: ModelShelf
    report: Reporter
    job_id: str

    def prompt(self, project: ProjectView) -> Prompt:
        return Prompt.from_json(dict(project.prompt))

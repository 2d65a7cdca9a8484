"""The worker: one process that runs the background jobs of a home folder. No Streamlit here.

python -m app.worker        or        elical worker
"""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from dbos import DBOS, DBOSPortableJSONSerializer

from app import worker_state
from app.deps import open_database
from app.services import actors, jobs
from app.settings import Settings
from app.stages.context import ModelShelf
from elical_core.errors import Conflict

log = logging.getLogger("elical.worker")


@contextmanager
def running(settings: Settings) -> Iterator[None]:
    """Run the home folder's jobs in this process's threads until the block ends.

    Jobs that a killed worker left behind are taken up again. Raises Conflict while another worker has the home folder.
    """
    import app.workflows  # noqa: F401 (registers the workflows)

    with _only_worker(settings), _heartbeat(settings):
        database = open_database(settings)
        worker_state.hold(
            worker_state.WorkerState(
                settings=settings,
                database=database,
                actor=actors.WORKER,
                models=ModelShelf(settings.home),
            )
        )
        DBOS(
            config={
                "name": jobs.APPLICATION,
                "system_database_url": settings.jobs_url,
                "serializer": DBOSPortableJSONSerializer(),
                "application_version": jobs.APPLICATION,  # a new release goes on with the jobs of the old one
                "executor_id": "local",
                "log_level": "CRITICAL",  # a failed job is told in its own log and on the jobs page
                "notification_listener_polling_interval_sec": 0.2,
            }
        )
        try:
            DBOS.launch()
            for queue, concurrency in jobs.QUEUES.items():
                DBOS.register_queue(queue, worker_concurrency=concurrency, polling_interval_sec=0.5)
            yield
        finally:
            DBOS.destroy(workflow_completion_timeout_sec=0)
            worker_state.hold(None)
            database.close()


@contextmanager
def _only_worker(settings: Settings) -> Iterator[None]:
    path = settings.home / "worker.lock"
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as taken:
            raise Conflict(
                f"a worker already runs for {settings.home}; one is enough, stop it before starting another"
            ) from taken
        yield


@contextmanager
def _heartbeat(settings: Settings) -> Iterator[None]:
    path = jobs.heartbeat_path(settings)
    path.parent.mkdir(parents=True, exist_ok=True)
    stopped = threading.Event()

    def beat() -> None:
        while True:
            path.touch()
            if stopped.wait(jobs.HEARTBEAT_SECONDS):
                break

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stopped.set()
        thread.join()
        path.unlink(missing_ok=True)


def main(settings: Settings | None = None) -> None:
    """Run until SIGTERM or Ctrl-C; a job in progress is taken up again by the next worker."""
    settings = settings or Settings.from_env()
    stop = threading.Event()

    def ask_to_stop(number: int, frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGTERM, ask_to_stop)
    signal.signal(signal.SIGINT, ask_to_stop)
    with running(settings):
        stop.wait()
        leave_at_once(settings)


def leave_at_once(settings: Settings, code: int = 0) -> NoReturn:
    """End this process now. Jobs are made to survive a kill, so stopping is one: an orderly end would wait for the
    training that runs."""
    jobs.heartbeat_path(settings).unlink(missing_ok=True)
    os._exit(code)


if __name__ == "__main__":
    main()

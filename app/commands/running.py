"""demo, up, ui, worker: the processes that a person keeps running."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from typing import Annotated

import typer

from app.commands.home_folder import note, say
from app.services import home as home_service
from app.services import jobs
from app.settings import Settings
from app.theme import ENTRY, streamlit_flags
from elical_core.errors import ConfigError

Port = Annotated[int, typer.Option(min=0, max=65535, help="Port of the pages; 0 takes a free one.")]
Address = Annotated[str, typer.Option(help="Address to bind. Only this machine by default.")]
LOOPBACK = {"localhost", "127.0.0.1", "::1"}
RESTART_AFTER_SECONDS = 2.0


def up(port: Port = 8501, address: Address = "127.0.0.1") -> None:
    """The pages and a worker for an existing home folder, until Ctrl-C. Prints the address."""
    settings = Settings.from_env()
    home_service.init(settings)
    serve(settings, address=address, port=port)


def ui(port: Port = 8501, address: Address = "127.0.0.1") -> None:
    """Only the pages; jobs wait until a worker runs."""
    settings = Settings.from_env()
    home_service.init(settings)
    process = start_pages(settings, address, free_port(address, port))
    try:
        raise typer.Exit(process.wait())
    except KeyboardInterrupt:
        stop(process)


def worker() -> None:
    """Only a worker: runs the background jobs of the home folder until Ctrl-C."""
    from app.worker import main

    settings = Settings.from_env()
    home_service.init(settings)
    note(f"worker for {settings.home}; Ctrl-C stops it, the next one goes on where it stopped")
    main(settings)


def serve(settings: Settings, *, address: str, port: int) -> None:
    """Run both until Ctrl-C or SIGTERM; a worker that dies is started again, one that runs already is kept."""
    port = free_port(address, port)
    pages = start_pages(settings, address, port)
    working = None if jobs.worker_is_alive(settings) else start_worker(settings)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    wait_for_port(pages, address, port)
    say(f"EliCal is running: http://{address}:{port}   (Ctrl-C stops it)")
    try:
        while pages.poll() is None:
            if (working is None or working.poll() is not None) and not jobs.worker_is_alive(settings):
                note("the worker has ended; starting it again")
                time.sleep(RESTART_AFTER_SECONDS)
                working = start_worker(settings)
            time.sleep(0.5)
        note(f"the pages ended with code {pages.returncode}")
        raise typer.Exit(pages.returncode or 1)
    except KeyboardInterrupt:
        note("stopping")
    finally:
        stop(pages)
        if working is not None:
            stop(working)


def start_worker(settings: Settings) -> subprocess.Popen[bytes]:
    log = (settings.logs / "worker.log").open("ab")
    return subprocess.Popen(
        [sys.executable, "-m", "app.worker"], env=_environment(settings), stdout=log, stderr=log, start_new_session=True
    )


def start_pages(settings: Settings, address: str, port: int) -> subprocess.Popen[bytes]:
    """Raises ConfigError for an address that others could reach: there is no sign-in yet."""
    if address not in LOOPBACK:
        raise ConfigError(
            f"the pages have no sign-in yet, so they are served on this machine only; use --address 127.0.0.1 instead "
            f"of {address}, and an SSH tunnel from elsewhere"
        )
    flags = streamlit_flags(address=address, port=port)
    log = (settings.logs / "pages.log").open("ab")
    return subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(ENTRY), *flags],
        env=_environment(settings),
        stdout=log,
        stderr=log,
        start_new_session=True,
    )


def free_port(address: str, port: int) -> int:
    """``port`` itself, or a free one for 0. Raises ConfigError when it is taken."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise ConfigError(
                f"port {port} on {address} cannot be used ({error.strerror}); name another with --port (0: any)"
            ) from error
        return int(probe.getsockname()[1])


def wait_for_port(process: subprocess.Popen[bytes], address: str, port: int, seconds: float = 60) -> None:
    """Until the pages answer, the process ends or the time is over; the caller's loop tells of a dead process."""
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        try:
            socket.create_connection((address, port), timeout=1).close()
        except OSError:
            time.sleep(0.2)
        else:
            return


def stop(process: subprocess.Popen[bytes], seconds: float = 10) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment(settings: Settings) -> dict[str, str]:
    return {
        **os.environ,
        "ELICAL_HOME": str(settings.home),
        "ELICAL_DATABASE_URL": settings.database_url,
        "ELICAL_JOBS_URL": settings.jobs_url,
    }

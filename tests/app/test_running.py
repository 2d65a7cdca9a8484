"""The processes that a person keeps running: where they listen, and what happens when one dies."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.commands.running import free_port, start_pages
from app.services import home, jobs
from app.settings import Settings
from elical_core.errors import ConfigError


def test_a_taken_port_is_named_and_zero_takes_a_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"port {port} on 127.0.0.1 cannot be used"):
            free_port("127.0.0.1", port)
        assert free_port("127.0.0.1", 0) not in {0, port}


def test_nobody_else_can_reach_pages_without_sign_in(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"served on this machine only.*instead of 0\.0\.0\.0"):
        start_pages(Settings.at(tmp_path), "0.0.0.0", 8501)


def until(condition: object, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.2)


def worker_pids(parent: int) -> list[int]:
    children = [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    return [pid for pid in children if b"app.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_up_starts_a_killed_worker_again_and_stops_both(tmp_path: Path) -> None:
    settings = Settings.at(tmp_path / "home")
    home.init(settings)
    process = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "up", "--port", "0"],
        env={**os.environ, "ELICAL_HOME": str(settings.home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        until(lambda: jobs.worker_is_alive(settings))
        [first] = worker_pids(process.pid)
        os.kill(first, signal.SIGKILL)
        until(lambda: worker_pids(process.pid) not in ([], [first]))
        [second] = worker_pids(process.pid)
        assert second != first
    finally:
        process.terminate()
        told, _ = process.communicate(timeout=30)
    assert "EliCal is running: http://127.0.0.1:" in told
    assert "the worker has ended; starting it again" in told
    assert not Path(f"/proc/{second}").exists()

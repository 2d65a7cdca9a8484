"""The pages as a person uses them: page objects over Playwright, also for the end-to-end test."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from app.theme import ENTRY, streamlit_flags

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 60


@contextmanager
def browser() -> Iterator[Browser]:
    """Skips the test where no Chromium is installed; ``.ci/run`` installs one."""
    if CHROMIUM is None:
        pytest.skip("no chromium on the path; install the system's package to run the browser tests")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


@contextmanager
def served(home: Path, log: Path, port: int = 0) -> Iterator[str]:
    """The pages of a home folder on ``port`` (0: a free one); gives their address. What they write goes to ``log``."""
    port = port or free_port()
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", str(ENTRY), *streamlit_flags(address="127.0.0.1", port=port)],
            env={**os.environ, "ELICAL_HOME": str(home)},
            cwd=home,
            stdout=out,
            stderr=out,
        )
        try:
            _wait(process, port, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(10)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"the pages did not start:\n{log.read_text(errors='replace')}")


def settled(page: Page) -> None:
    """Until Streamlit has drawn everything and nothing is running."""
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)
    page.wait_for_timeout(150)


def open_page(page: Page, address: str, path: str = "") -> None:
    page.goto(f"{address}/{path}")
    settled(page)


class AnnotatePage:
    """The annotate page; keys go to the page as a person's would."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def part(self, name: str) -> Locator:
        return self.page.locator(f'[data-part="{name}"]')

    def open(self, address: str, project: str = "") -> None:
        open_page(self.page, address, f"annotate?project={quote(project)}" if project else "annotate")
        expect(self.part("text")).to_be_visible(timeout=60_000)

    def question(self) -> str:
        return self.part("text").text_content() or ""

    def answers(self) -> list[str]:
        return [text or "" for text in self.page.locator(".answer .words").all_text_contents()]

    def ticked(self) -> list[int]:
        """Positions of ticked answers, from 0."""
        boxes = self.page.locator(".answer input").all()
        return [position for position, box in enumerate(boxes) if box.is_checked()]

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def wait_for_another_question(self, before: str) -> None:
        """Until the card shows another question than ``before``, or the end of the queue."""
        self.page.wait_for_function(
            """before => {
                 const find = root => {
                   for (const node of root.querySelectorAll("*")) {
                     if (node.dataset?.part === "text") return node
                     const inside = node.shadowRoot && find(node.shadowRoot)
                     if (inside) return inside
                   }
                   return null
                 }
                 const text = find(document)
                 return text && (text.textContent !== before || text.closest("section").hidden)
               }""",
            arg=before,
        )

    def verdict(self, *keys: str) -> float:
        """Press the keys, wait for the next question; gives the seconds from the last key to it."""
        before = self.question()
        self.press(*keys[:-1])
        began = time.monotonic()
        self.press(keys[-1])
        self.wait_for_another_question(before)
        return time.monotonic() - began

    def saved(self) -> str:
        return self.part("saved").text_content() or ""

    def progress(self) -> str:
        """ "Project · 37 of 250 labels · 12 s a question"."""
        return self.page.locator(".st-key-progress .text").text_content() or ""


class OverviewPage:
    """The overview: the strip and the one button."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, address: str) -> None:
        open_page(self.page, address)

    def next_step(self) -> Locator:
        """The one primary button."""
        return self.page.locator(".st-key-next_step button")

    def start_next_step(self) -> None:
        self.next_step().click()
        settled(self.page)


class QualityPage:
    """The quality page: the sentence, the curve, and the button that trains Stage 2."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, address: str) -> None:
        open_page(self.page, address, "quality")
        self.page.wait_for_selector(".st-key-curve :is(.legendtext, .annotation-text)", timeout=60_000)

    def sentence(self) -> str:
        return self.page.locator(".st-key-sentence .text").text_content() or ""

    def calibrate(self) -> None:
        self.page.locator(".st-key-calibrate button").click()
        settled(self.page)

    def points(self) -> int:
        """Markers drawn in the budget curve."""
        return self.page.locator(".st-key-curve .scatterlayer .point").count()

    def legend(self) -> list[str]:
        return self.page.locator(".st-key-curve .legendtext").all_text_contents()

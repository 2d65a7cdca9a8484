"""Every page at 1280 and 390 pixels, light and dark: nothing runs out of the screen, nothing fails in the browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from elical_core.domain import Stage
from tests.browser import pages, seeding

pytestmark = pytest.mark.browser
PAGES = ("", "import", "annotate", "quality", "jobs")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("fit")
    seeded = seeding.seed(folder / "home", questions=60, drawn=50)
    seeding.label(seeded, 40)
    seeding.add_checkpoint(seeded, Stage.CALIBRATION, "stage-2", sharpness=1.5)
    with pages.served(seeded.home, folder / "pages.log") as url:
        yield url
    seeded.database.close()


@pytest.fixture(scope="module")
def chromium(address: str) -> Iterator[Browser]:
    with pages.browser() as opened:
        yield opened


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_pages_fit_and_do_not_fail(chromium: Browser, address: str, width: int, scheme: str) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    outside: list[str] = []
    failed: list[str] = []
    page.on("request", lambda r: None if r.url.startswith((address, "data:", "blob:")) else outside.append(r.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    for path in PAGES:
        pages.open_page(page, address, path)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert page.locator('[data-testid="stException"]').count() == 0, path
    background = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert background == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 22, 27)")
    assert (outside, failed) == ([], [])
    context.close()


def test_another_metric_redraws_the_curve(chromium: Browser, address: str) -> None:
    page = chromium.new_page(viewport={"width": 1280, "height": 1000})
    quality = pages.QualityPage(page)
    quality.open(address)
    assert quality.legend() == ["Stage 1", "Instant head", "Stage 2 (LoRA)"]
    assert quality.points() >= 3
    assert "audit labels" in quality.sentence()
    page.get_by_text("Brier", exact=True).first.click()
    page.get_by_text("Brier (lower is better)").first.wait_for()
    page.close()

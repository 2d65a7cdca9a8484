"""How the pages' server is started: the flags that carry theme and limits, so that any working folder does."""

from __future__ import annotations

from pathlib import Path

MAX_UPLOAD_MIB = 200  # larger files go in by `elical import`; the import page says so before the upload

ENTRY = Path(__file__).with_name("main.py")


def streamlit_flags(*, address: str = "localhost", port: int = 8501) -> list[str]:
    """Arguments for ``streamlit run``, after the path of ``ENTRY``."""
    options = {
        "theme.base": Path(__file__).with_name("theme.toml"),
        "server.address": address,
        "server.port": port,
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "server.maxUploadSize": MAX_UPLOAD_MIB,
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "minimal",
        "client.showErrorLinks": "false",
    }
    return [f"--{name}={value}" for name, value in options.items()]

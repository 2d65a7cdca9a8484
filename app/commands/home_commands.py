"""init, doctor, backup, restore: the home folder itself."""

from __future__ import annotations

import typer

from app.commands.home_folder import AsJson, print_json, say
from app.services import home
from app.settings import Settings


def init(as_json: AsJson = False) -> None:
    """Create the home folder, or upgrade its database (a backup is made first)."""
    settings = Settings.from_env()
    done = home.init(settings)
    if as_json:
        print_json(done)
    else:
        say(f"{settings.home} is ready. Next: elical demo, or elical project create NAME")


def doctor(as_json: AsJson = False) -> None:
    """Check the home folder: database, versions, disk, model. Exits with 1 when something is wrong."""
    checks = home.doctor(Settings.from_env())
    if as_json:
        print_json(checks)
    else:
        for check in checks:
            say(f"{'ok  ' if check.ok else 'FAIL'}  {check.name}: {check.detail}")
    if not all(check.ok for check in checks):
        raise typer.Exit(1)

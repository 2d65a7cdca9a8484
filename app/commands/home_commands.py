"""init, doctor, backup, restore: the home folder itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.commands.home_folder import AsJson, print_json, say
from app.services import home, home_backup
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


def backup(
    output: Annotated[Path, typer.Option("-o", "--output", help="The backup file to write.")], as_json: AsJson = False
) -> None:
    """One file of everything a user would lose, made while people work."""
    report = home_backup.backup(Settings.from_env(), output)
    if as_json:
        print_json(report)
    else:
        say(f"{report.files} files, {report.size_bytes / 2**20:.1f} MiB in {report.path}")


def restore(file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that `elical backup` wrote.")]) -> None:
    """Bring a backup back into the home folder; what was there is kept in backups/."""
    settings = Settings.from_env()
    home_backup.restore(settings, file)
    say(f"{file} is restored into {settings.home}")

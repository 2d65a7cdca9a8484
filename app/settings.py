"""Where everything lives. The environment is read here and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from elical_core.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Settings:
    """``home`` is absolute. URLs default to SQLite files in it.

    ``lease_seconds``: how long a question stays reserved for an annotator who does nothing.
    """

    home: Path
    database_url: str
    jobs_url: str
    lease_seconds: int = 600

    @classmethod
    def at(cls, home: Path, *, database_url: str = "", jobs_url: str = "", lease_seconds: int = 600) -> Settings:
        """Settings of a home folder; nothing is created. Empty URLs mean the SQLite files in it."""
        home = home.expanduser().absolute()
        if not 10 <= lease_seconds <= 86_400:
            raise ConfigError(f"ELICAL_LEASE_SECONDS must be between 10 and 86400, got {lease_seconds}")
        return cls(
            home=home,
            database_url=database_url or f"sqlite:///{home / 'elical.sqlite'}",
            jobs_url=jobs_url or f"sqlite:///{home / 'jobs.sqlite'}",
            lease_seconds=lease_seconds,
        )

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, *, home: Path | None = None) -> Settings:
        """Settings from ELICAL_HOME (default ./.elical), ELICAL_DATABASE_URL, ELICAL_JOBS_URL, ELICAL_LEASE_SECONDS.

        ``home`` wins over ELICAL_HOME.
        """
        environ = os.environ if environ is None else environ
        lease = environ.get("ELICAL_LEASE_SECONDS", "600")
        if not lease.isdecimal():
            raise ConfigError(f"ELICAL_LEASE_SECONDS must be a whole number of seconds, got {lease!r}")
        return cls.at(
            home or Path(environ.get("ELICAL_HOME", "") or ".elical"),
            database_url=environ.get("ELICAL_DATABASE_URL", ""),
            jobs_url=environ.get("ELICAL_JOBS_URL", ""),
            lease_seconds=int(lease),
        )

    @property
    def models(self) -> Path:
        return self.home / "models"

    @property
    def projects(self) -> Path:
        return self.home / "projects"

    @property
    def backups(self) -> Path:
        return self.home / "backups"

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    def checkpoints(self, project_id: int) -> Path:
        return self.projects / str(project_id) / "checkpoints"

    def features(self, project_id: int) -> Path:
        return self.projects / str(project_id) / "features"

    def exports(self, project_id: int) -> Path:
        return self.projects / str(project_id) / "exports"

    def relative(self, path: Path) -> str:
        """The stored form of a path inside the home folder (``Checkpoint.path``)."""
        return path.absolute().relative_to(self.home).as_posix()

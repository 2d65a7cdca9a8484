"""Every error that EliCal raises on purpose, as one tree.

    ElicalError
    |- ConfigError            a setting is out of range
    |- InputError             a file, row or text that cannot be used
    |  |- ImportRefused       nothing of the file was stored
    |  `- QuestionTooLong     truncation is refused
    |- ModelError             a model cannot be found, read or used
    |- CheckpointError        a checkpoint is incomplete or belongs to another model
    |- TrainingError          there is nothing to learn from, or training went wrong
    |- PoolTooSmall           fewer candidates than were asked for
    |- StoreError             the home folder or its database
    |  |- NewerDatabase       written by a newer version
    |  |- NotFound            no row of that name
    |  `- Conflict            somebody else was faster, or the name is taken
    |- NotAllowed             the role may not do this
    `- JobError               a background job
       |- JobRefused          the same job is already queued or running
       `- JobCancelled        the user asked a running job to stop

A message names what came, what is allowed and what to do. The command line prints it as one line and exits with 1;
pages show it in red; anything outside this tree is a fault of ours and keeps its traceback.
"""


class ElicalError(Exception):
    """Base of all deliberate errors."""


class ConfigError(ElicalError):
    """A setting is out of range."""


class InputError(ElicalError):
    """A file, row or text that cannot be used."""


class ImportRefused(InputError):
    """Nothing of the file was stored."""


class QuestionTooLong(InputError):
    """The prompt does not fit the limit; it is never cut."""


class ModelError(ElicalError):
    """A model cannot be found, read or used."""


class CheckpointError(ElicalError):
    """A checkpoint is incomplete or belongs to another model."""


class TrainingError(ElicalError):
    """There is nothing to learn from, or training went wrong."""


class PoolTooSmall(ElicalError):
    """Fewer candidates than were asked for."""


class StoreError(ElicalError):
    """The home folder or its database."""


class NewerDatabase(StoreError):
    """The database was written by a newer version."""


class NotFound(StoreError):
    """No row of that name."""


class Conflict(StoreError):
    """Somebody else was faster, or the name is taken."""


class NotAllowed(ElicalError):
    """The role may not do this."""


class JobError(ElicalError):
    """A background job."""


class JobRefused(JobError):
    """The same job is already queued or running."""


class JobCancelled(JobError):
    """The user asked a running job to stop."""

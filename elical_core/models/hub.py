"""Models named by a hub id: the only place in the method that uses the network."""

from __future__ import annotations

from pathlib import Path

from elical_core.errors import ModelError
from elical_core.models.quiet import one_line
from elical_core.models.source import PACKAGED, ModelSource, checked_folder

FILES = ["*.json", "*.safetensors", "*.model", "*.txt", "*.jinja"]  # no pickled weights, no code
WAY_OUT = f"name a local model folder or .gguf file, or use {PACKAGED}"


def hub_source(spec: str, revision: str | None) -> ModelSource:
    """The snapshot of ``spec`` in the hub's own cache, downloaded when it is missing there.

    With a revision that is already cached no request is sent. Raises ModelError, in one sentence, when the id or the
    revision is unknown, access is refused, or the hub cannot be reached and nothing is cached.
    """
    from huggingface_hub import errors, snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    with disable_progress_bars():
        try:
            if revision is not None and (cached := _cached(spec, revision)):
                folder = cached
            else:
                folder = Path(snapshot_download(spec, revision=revision, allow_patterns=FILES))
        except errors.GatedRepoError as error:
            raise ModelError(
                f"the hub gives {spec} only to accepted accounts; log in with `hf auth login` and accept its terms, "
                f"or {WAY_OUT}"
            ) from error
        except errors.RepositoryNotFoundError as error:
            raise ModelError(
                f"{spec} is neither a folder here nor a model on the hub; check the name, or {WAY_OUT}"
            ) from error
        except errors.RevisionNotFoundError as error:
            raise ModelError(f"{spec} has no revision {revision} on the hub; leave it out or name a commit") from error
        except errors.HFValidationError as error:
            raise ModelError(f"{spec!r} is neither a folder here nor a valid hub id; {WAY_OUT}") from error
        except (
            errors.LocalEntryNotFoundError,
            errors.RevisionResolutionError,
            errors.XetDownloadError,
            errors.HTTPError,  # type: ignore[attr-defined]  # of whichever HTTP client the hub library uses
            ConnectionError,
        ) as error:
            raise ModelError(
                f"{spec} is no folder here and the hub cannot be reached for it; check the name and the connection, "
                f"or {WAY_OUT}"
            ) from error
        except OSError as error:
            raise ModelError(f"{spec} could not be stored: {error.strerror or one_line(error)}; {WAY_OUT}") from error
    # the snapshot folder's own name is the commit
    return ModelSource(
        spec=spec, name=spec.rsplit("/", 1)[-1], folder=checked_folder(folder, spec), revision=folder.name
    )


def _cached(spec: str, revision: str) -> Path | None:
    """The complete cached snapshot, or None."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(spec, revision=revision, allow_patterns=FILES, local_files_only=True))
        return checked_folder(folder, spec)
    except (LocalEntryNotFoundError, ModelError):
        return None

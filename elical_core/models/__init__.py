"""Language models: find one, load it, and put questions into its prompt. torch is loaded only by ``load_model``."""

from typing import TYPE_CHECKING, Any

from elical_core.models.encode import encode
from elical_core.models.fingerprint import fingerprint_weights, model_fingerprint
from elical_core.models.home import default_home
from elical_core.models.locate import locate
from elical_core.models.prompt import Prompt, default_prompt, load_prompt
from elical_core.models.source import PACKAGED, ModelSource

if TYPE_CHECKING:
    from elical_core.models.load import LoadedModel, load_model

__all__ = [
    "PACKAGED",
    "LoadedModel",
    "ModelSource",
    "Prompt",
    "default_home",
    "default_prompt",
    "encode",
    "fingerprint_weights",
    "load_model",
    "load_prompt",
    "locate",
    "model_fingerprint",
]


def __getattr__(name: str) -> Any:
    """Loads torch only when a model is to be loaded."""
    if name in {"LoadedModel", "load_model"}:
        from elical_core.models import load

        return getattr(load, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

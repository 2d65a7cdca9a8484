"""The method of EliCal, importable alone: ``from elical_core import ConfidenceModel``."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elical_core.confidence import ConfidenceModel

__all__ = ["ConfidenceModel"]


def __getattr__(name: str) -> Any:
    """Loads torch only when the model is asked for."""
    if name == "ConfidenceModel":
        from elical_core.confidence import ConfidenceModel

        return ConfidenceModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""The method of EliCal, importable alone: ``from elical_core import ConfidenceModel``."""

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elical_core.confidence import ConfidenceModel

__all__ = ["ConfidenceModel"]

# Threads that wait for work spin by default. With pages, a worker and a user's own programs on the same cores, training
# then loses 95% of its speed to spinning (203 s against 35 s for one epoch of 128 questions at a load of 7 on 2 cores).
# It must be set before torch loads its OpenMP library; a value from outside wins.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def __getattr__(name: str) -> Any:
    """Loads torch only when the model is asked for."""
    if name == "ConfidenceModel":
        from elical_core.confidence import ConfidenceModel

        return ConfidenceModel
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

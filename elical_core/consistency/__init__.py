"""Which answers mean the same: a cascade of cheap steps. Importing this loads no model."""

from elical_core.consistency.clean import classify, clean

__all__ = ["classify", "clean"]

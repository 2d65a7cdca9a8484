"""All selectors by name. A new one is a class with ``draw`` and a line here; the contract test finds it."""

from __future__ import annotations

from collections.abc import Callable

from elical_core.config import SelectionConfig
from elical_core.errors import ConfigError
from elical_core.selection.base import Selector
from elical_core.selection.covering import BadgeSelector, KCenterSelector
from elical_core.selection.extremes import ConflictSelector, UncertaintySelector
from elical_core.selection.rio import RioMixSelector
from elical_core.selection.stratified import StratifiedSelector
from elical_core.selection.uniform import RandomSelector

SELECTORS: dict[str, Callable[[SelectionConfig], Selector]] = {
    "stratified": lambda config: StratifiedSelector(config.confidence_bins, config.clusters),
    "rio-mix": lambda config: RioMixSelector(config.confidence_bins, config.clusters),
    "random": lambda config: RandomSelector(),
    "uncertainty": lambda config: UncertaintySelector(),
    "k-center": lambda config: KCenterSelector(),
    "badge": lambda config: BadgeSelector(),
    "conflict": lambda config: ConflictSelector(),
}


def selector(config: SelectionConfig) -> Selector:
    """The selector that ``config.policy`` names. Raises ConfigError listing the known ones."""
    if config.policy not in SELECTORS:
        raise ConfigError(f"there is no selector {config.policy!r}; known are {', '.join(sorted(SELECTORS))}")
    return SELECTORS[config.policy](config)

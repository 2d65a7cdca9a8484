"""Which questions to ask a person about, and what their answers teach at once."""

from elical_core.selection.base import Draw, Pool, Selector
from elical_core.selection.registry import SELECTORS, selector
from elical_core.selection.rounds import Drawn, draw_round

__all__ = ["SELECTORS", "Draw", "Drawn", "Pool", "Selector", "draw_round", "selector"]

"""Step 2: answers of a known type. Says same and different; a "different" here is final.

Every rule takes a pair and returns None when it has nothing to say.
"""

from __future__ import annotations

from elical_core.consistency.amounts import amounts, number_guard, times
from elical_core.consistency.choices import choices, options, truth
from elical_core.consistency.lists import lists
from elical_core.consistency.opposites import formulas, opposites
from elical_core.consistency.pair import Rule

RULES: tuple[Rule, ...] = (options, truth, choices, times, amounts, formulas, opposites, number_guard, lists)

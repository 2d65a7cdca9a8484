"""Which questions are set apart.

The choice depends on the group and a seed alone, so a second import agrees with the first.
"""

from __future__ import annotations

from hashlib import blake2b

from elical_core.domain import Split
from elical_core.errors import ConfigError

AUDIT_SHARE = 0.2


def hash_share(group: str, seed: int, purpose: str) -> float:
    """A number in [0, 1), uniform over groups, fixed by (group, seed, purpose)."""
    digest = blake2b(f"{purpose}\0{seed}\0{group}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def assign_split(group: str, seed: int, share: float = AUDIT_SHARE) -> Split:
    """``AUDIT`` for about ``share`` of all groups, else ``POOL``; every question of a group gets the same split.

    ``share`` is in [0, 1]; ConfigError otherwise.
    """
    if not 0 <= share <= 1:
        raise ConfigError(f"the audit share must be between 0 and 1, got {share}; the usual value is {AUDIT_SHARE}")
    return Split.AUDIT if hash_share(group, seed, "audit") < share else Split.POOL

"""Which answers mean the same: a cascade of cheap steps. Importing this loads no model."""

from elical_core.consistency.cascade import Cascade, Step, compare
from elical_core.consistency.clean import classify, clean
from elical_core.consistency.cluster import Sampled, cluster, cluster_many
from elical_core.consistency.embedding import Embedder, MiniLM, TableEmbedder
from elical_core.consistency.judge import judge, reference_problem
from elical_core.consistency.pair import Aliases, Decision, Pair
from elical_core.consistency.questions import asks_for_any

__all__ = [
    "Aliases",
    "Cascade",
    "Decision",
    "Embedder",
    "MiniLM",
    "Pair",
    "Sampled",
    "Step",
    "TableEmbedder",
    "asks_for_any",
    "classify",
    "clean",
    "cluster",
    "cluster_many",
    "compare",
    "judge",
    "reference_problem",
]

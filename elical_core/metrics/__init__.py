"""Metrics of confidences against verdicts. ``evaluate`` computes them all; each family has a file of its own."""

from elical_core.metrics.evaluate import evaluate, evaluate_ranking, evaluate_soft, paired_difference
from elical_core.metrics.reliability import ReliabilityBin, reliability

__all__ = ["ReliabilityBin", "evaluate", "evaluate_ranking", "evaluate_soft", "paired_difference", "reliability"]

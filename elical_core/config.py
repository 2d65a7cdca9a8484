"""One frozen settings class per stage, checked when built. ``to_json``/``from_json`` are the stored form."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from elical_core.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class StageConfig:
    """Base of the stage settings: stored as a flat JSON object, unknown keys refused."""

    def to_json(self) -> dict[str, Any]:
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        known = {f.name for f in fields(cls)}
        if unknown := sorted(set(stored) - known):
            raise ConfigError(
                f"{cls.__name__} has no setting {', '.join(unknown)}; known are {', '.join(sorted(known))}"
            )
        return cls(**{key: tuple(value) if isinstance(value, list) else value for key, value in stored.items()})

    def _between(self, name: str, low: float, high: float) -> None:
        value = getattr(self, name)
        if not low <= value <= high:
            raise ConfigError(f"{name} must be between {low:g} and {high:g}, got {value}")


@dataclass(frozen=True, kw_only=True)
class SamplingConfig(StageConfig):
    """How answers are sampled (paper: T=1, top-p .95, top-k 50, repetition penalty 1.05, k=20)."""

    k: int = 20
    temperature: float = 1.0
    top_p: float = 0.95
    top_k: int = 50
    repetition_penalty: float = 1.05
    max_new_tokens: int = 16
    max_prompt_tokens: int = 2048
    seed: int = 0

    def __post_init__(self) -> None:
        self._between("k", 1, 200)
        self._between("temperature", 0.01, 5)
        self._between("top_p", 0.01, 1)
        self._between("top_k", 1, 10_000)
        self._between("repetition_penalty", 1, 2)
        self._between("max_new_tokens", 1, 4096)
        self._between("max_prompt_tokens", 16, 131_072)


@dataclass(frozen=True, kw_only=True)
class ConsistencyConfig(StageConfig):
    """Thresholds of the equivalence cascade. ``version`` names the rules that made a stored decision."""

    version: str = "1"
    embedding_different_below: float = 0.3
    embedding_conflict_below: float = 0.5  # different, when each also says something that the other does not
    embedding_same_from: float = 0.8  # only together with the short-entity hint
    entity_max_tokens: int = 6
    min_decided_share: float = 0.5

    def __post_init__(self) -> None:
        self._between("embedding_different_below", -1, 1)
        self._between("embedding_conflict_below", -1, 1)
        self._between("embedding_same_from", -1, 1)
        self._between("entity_max_tokens", 1, 50)
        self._between("min_decided_share", 0, 1)


@dataclass(frozen=True, kw_only=True)
class ConfidenceConfig(StageConfig):
    """Shape of the confidence model; Stage 2 inherits it from Stage 1."""

    lora_r: int = 8
    lora_alpha: int = 16
    lora_dropout: float = 0.0
    lora_targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
    lora_layers: str = "all"  # or "top-half": the frozen lower half's states are computed once
    head: str = "linear"  # or "mlp", "mean-pool"
    max_tokens: int = 2048

    def __post_init__(self) -> None:
        self._between("lora_r", 1, 256)
        self._between("lora_alpha", 1, 1024)
        self._between("lora_dropout", 0, 0.9)
        self._between("max_tokens", 16, 131_072)
        if self.head not in {"linear", "mlp", "mean-pool"}:
            raise ConfigError(f"head must be linear, mlp or mean-pool, got {self.head!r}")
        if self.lora_layers not in {"all", "top-half"}:
            raise ConfigError(f"lora_layers must be all or top-half, got {self.lora_layers!r}")
        if not self.lora_targets:
            raise ConfigError("lora_targets is empty; name at least one projection, for example q_proj")


@dataclass(frozen=True, kw_only=True)
class OptimisationConfig(StageConfig):
    """What both stages share. Lengths are in steps; ``epochs`` only sets the number of steps when ``steps`` is 0."""

    learning_rate: float = 5e-4  # peak, after warm-up
    steps: int = 0
    epochs: float = 3.0
    batch_size: int = 16
    weight_decay: float = 0.1
    warmup_share: float = 0.1
    l2_to_start: float = 0.0
    validation_share: float = 0.1  # of the training questions, by group; 0 = no early stopping
    patience: int = 3  # looks without improvement
    looks: int = 8  # validation looks over the whole training
    precision: str = "auto"  # auto = bf16 autocast where it is faster; or fp32, bf16
    seed: int = 0

    def __post_init__(self) -> None:
        self._between("learning_rate", 1e-7, 1)
        self._between("steps", 0, 10_000_000)
        self._between("epochs", 0.01, 1000)
        self._between("batch_size", 1, 4096)
        self._between("weight_decay", 0, 1)
        self._between("warmup_share", 0, 1)
        self._between("l2_to_start", 0, 1000)
        self._between("validation_share", 0, 0.5)
        self._between("patience", 1, 1000)
        self._between("looks", 1, 1000)
        if self.precision not in {"auto", "fp32", "bf16"}:
            raise ConfigError(f"precision must be auto, fp32 or bf16, got {self.precision!r}")


@dataclass(frozen=True, kw_only=True)
class ElicitationConfig(OptimisationConfig):
    """Stage 1: learn the consistency target."""


@dataclass(frozen=True, kw_only=True)
class CalibrationConfig(OptimisationConfig):
    """Stage 2: continue on labels, held near Stage 1."""

    learning_rate: float = 2e-4
    epochs: float = 4.0
    l2_to_start: float = 0.1  # 0 ranks 2 points better on the labelled domains, up to 3 worse on others


@dataclass(frozen=True, kw_only=True)
class SelectionConfig(StageConfig):
    """How questions are drawn for labelling."""

    policy: str = "stratified"
    audit_share: float = 0.25
    confidence_bins: int = 10
    clusters: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        self._between("audit_share", 0, 0.9)
        self._between("confidence_bins", 1, 100)
        self._between("clusters", 1, 1000)

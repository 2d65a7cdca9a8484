"""One state per question: the same alone, in any batch, packed or padded on either side, and at both layer splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from elical_core.confidence.layout import last_real_token, pack, pad
from elical_core.confidence.packing import Row
from elical_core.confidence.reader import Reader, proven_way
from elical_core.confidence.session import Session, fresh, opening_of, rows_for
from elical_core.config import ConfidenceConfig
from elical_core.errors import ConfigError
from elical_core.models import LoadedModel
from tests.core.conftest import TINY_PROMPT

QUESTIONS = [
    "who ?",
    "what is the capital of the first river ?",
    "where did the year start and the last river end ? name the first . " * 4,
    "0 1 2",
    "who wrote the name",
]
pytestmark = pytest.mark.usefixtures("one_thread")
Tiny = Callable[..., LoadedModel]


@contextmanager
def moved(loaded: LoadedModel, shape: ConfidenceConfig, **options: Any) -> Iterator[Session]:
    """A session whose adapter is far from the identity."""
    settings = {"bf16": False, "seed": 1, "keep_lower": True} | options
    with fresh(loaded, TINY_PROMPT, shape, **settings) as session:
        generator = torch.Generator().manual_seed(7)
        with torch.no_grad():
            for name, parameter in session.peft_model.named_parameters():
                if "lora_B" in name:
                    parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.2)
        yield session


def rows_of(loaded: LoadedModel) -> list[Row]:
    return rows_for(loaded.tokenizer, TINY_PROMPT, QUESTIONS, None, 512)


def test_layouts_by_hand() -> None:
    rows = [Row((1, 2, 3, 4), 2), Row((1, 2, 5), 2)]
    config = type("Config", (), {"layer_types": None, "sliding_window": None, "_attn_implementation": "sdpa"})()
    packed = pack(rows, config, torch.float32)
    assert packed.input_ids.tolist() == [[1, 2, 3, 4, 5]]
    assert packed.position_ids.tolist() == [[0, 1, 2, 3, 2]]  # the second question also stands at position 2
    assert packed.attention_mask[0, 0, 4].tolist() == [True, True, False, False, True]  # the opening and itself
    assert (packed.first.tolist(), packed.last.tolist()) == ([2, 4], [3, 4])
    left = pad(rows, 0, "left")
    assert left.input_ids.tolist() == [[1, 2, 3, 4], [0, 1, 2, 5]]
    assert left.position_ids.tolist() == [[0, 1, 2, 3], [0, 0, 1, 2]]
    assert (left.first.tolist(), left.last.tolist()) == ([2, 3], [3, 3])
    assert (pad(rows, 0).first.tolist(), pad(rows, 0).last.tolist()) == ([2, 2], [3, 2])


def test_last_real_token_is_read_off_the_mask() -> None:
    mask = torch.tensor([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0]])
    assert last_real_token(mask).tolist() == [1, 3, 0]


@pytest.mark.parametrize("family", ["gemma3", "llama"])
@pytest.mark.parametrize("head", ["linear", "mean-pool"])
def test_company_and_padding_do_not_matter(tiny: Tiny, family: str, head: str) -> None:
    loaded = tiny(family)
    rows = rows_of(loaded)
    assert min(row.shared for row in rows) > 5
    with moved(loaded, ConfidenceConfig(head=head)) as session, torch.no_grad():
        alone = torch.cat([session.reader.read([row]) for row in rows])
        ways = [replace(session.reader, way="padded", side=side) for side in ("right", "left")]
        for reader in (session.reader, *ways):
            assert_close(reader.read(rows), alone, atol=1e-4, rtol=1e-5)
            assert_close(reader.read_all(rows, 2), alone, atol=1e-4, rtol=1e-5)


def test_gradients_of_packed_and_padded_agree(tiny: Tiny) -> None:
    loaded = tiny()
    rows = rows_of(loaded)
    with moved(loaded, ConfidenceConfig()) as session:
        weights = [p for p in session.peft_model.parameters() if p.requires_grad]
        packed, padded = (
            torch.autograd.grad(reader.read(rows).square().sum(), weights)
            for reader in (session.reader, replace(session.reader, way="padded"))
        )
    assert len(packed) == 4 * 7 * 2  # layers x projections x (A, B)
    for a, b in zip(packed, padded, strict=True):
        assert_close(a, b, atol=1e-3, rtol=1e-4)


def test_prompts_longer_than_the_sliding_window_agree(tiny: Tiny) -> None:
    loaded = tiny(sliding_window=8)
    rows = rows_of(loaded)
    assert max(len(row.tokens) for row in rows) > 40
    with moved(loaded, ConfidenceConfig()) as session, torch.no_grad():
        assert_close(session.reader.read(rows), replace(session.reader, way="padded").read(rows), atol=1e-4, rtol=1e-5)


def test_eager_attention_packs_too(tiny: Tiny) -> None:
    loaded = tiny()
    loaded.model.set_attn_implementation("eager")
    rows = rows_of(loaded)
    with moved(loaded, ConfidenceConfig()) as session, torch.no_grad():
        assert session.reader.way == "packed"
        assert_close(session.reader.read(rows), replace(session.reader, way="padded").read(rows), atol=1e-4, rtol=1e-5)


@pytest.mark.parametrize("family", ["gemma3", "llama"])
def test_top_half_with_kept_states_is_exact(tiny: Tiny, family: str) -> None:
    loaded = tiny(family)
    rows = rows_of(loaded)
    with moved(loaded, ConfidenceConfig(lora_layers="top-half")) as session:
        names = [n for n, p in session.peft_model.named_parameters() if p.requires_grad]
        assert {name.split("layers.")[1][0] for name in names} == {"2", "3"}
        weights = [p for p in session.peft_model.parameters() if p.requires_grad]
        whole = replace(session.reader, lower=None)
        for order in (rows, rows[::-1], rows[:2]):  # first computed, then kept
            assert_close(session.reader.read(order), whole.read(order), atol=1e-4, rtol=1e-5)
        kept, full = (
            torch.autograd.grad(reader.read(rows).square().sum(), weights) for reader in (session.reader, whole)
        )
        for a, b in zip(kept, full, strict=True):
            assert_close(a, b, atol=1e-3, rtol=1e-4)
        assert len(loaded.model.get_decoder().layers) == 4


def test_top_half_needs_a_model_that_packs(tiny: Tiny) -> None:
    loaded = tiny()
    with (
        pytest.raises(ConfigError, match="lora_layers=all"),
        moved(loaded, ConfidenceConfig(lora_layers="top-half"), way="padded"),
    ):
        pass


def test_a_model_without_such_layers_says_so(tiny: Tiny) -> None:
    with (
        pytest.raises(ConfigError, match="no layers called c_attn"),
        moved(tiny(), ConfidenceConfig(lora_targets=("c_attn",))),
    ):
        pass


def test_a_model_that_cannot_tell_questions_apart_is_padded() -> None:
    """MPT's position bias counts tokens, so packed questions would disturb each other; Llama's does not."""
    from transformers import LlamaConfig, LlamaForCausalLM, MptConfig, MptForCausalLM

    rows = [Row((1, 5, 6, 7), 2), Row((1, 5, 8), 2)]
    ways = []
    with torch.random.fork_rng():
        torch.manual_seed(0)
        mpt = MptForCausalLM(MptConfig(vocab_size=20, d_model=32, n_layers=2, n_heads=4, initializer_range=0.3))
        size = {"vocab_size": 20, "hidden_size": 32, "intermediate_size": 48, "initializer_range": 0.3}
        llama = LlamaForCausalLM(LlamaConfig(**size, num_hidden_layers=2, num_attention_heads=4))
    for model in (mpt, llama):
        reader = Reader(decoder=model.eval().get_decoder(), pad_token=0)
        ways.append(proven_way(reader, rows))
    assert ways == ["padded", "packed"]


def test_the_shared_model_is_left_as_it_was(tiny: Tiny) -> None:
    loaded = tiny()
    before = {name: tensor.clone() for name, tensor in loaded.model.state_dict().items()}
    modules = [type(module) for module in loaded.model.modules()]
    rows = pad(rows_of(loaded), 0)
    states = loaded.model.get_decoder()(input_ids=rows.input_ids, attention_mask=rows.attention_mask)[0]
    random_state = torch.get_rng_state()
    with moved(loaded, ConfidenceConfig()) as session:
        inside = loaded.model.get_decoder()(input_ids=rows.input_ids, attention_mask=rows.attention_mask)[0]
        assert not torch.allclose(inside, states)
        with session.peft_model.disable_adapter():
            off = loaded.model.get_decoder()(input_ids=rows.input_ids, attention_mask=rows.attention_mask)[0]
        assert torch.equal(off, states)
    after = loaded.model.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())
    assert [type(module) for module in loaded.model.modules()] == modules
    assert not loaded.model.training
    assert not any(p.requires_grad for p in loaded.model.parameters())
    assert torch.equal(torch.get_rng_state(), random_state)
    assert torch.equal(
        loaded.model.get_decoder()(input_ids=rows.input_ids, attention_mask=rows.attention_mask)[0], states
    )


def test_bf16_stays_near_fp32(tiny: Tiny) -> None:
    with moved(tiny(), ConfidenceConfig()) as session, torch.no_grad():
        exact = session.reader.read(rows_of(tiny()))
    with moved(tiny(dtype="bf16"), ConfidenceConfig(), bf16=True) as session, torch.no_grad():
        rounded = session.reader.read(rows_of(tiny()))
    assert float((rounded - exact).norm() / exact.norm()) < 0.05


def test_the_opening_is_what_all_prompts_share(tiny: Tiny) -> None:
    loaded = tiny()
    opening = opening_of(loaded.tokenizer, TINY_PROMPT, 512)
    assert opening[0] == loaded.tokenizer.bos_token_id
    assert loaded.tokenizer.decode(opening[-2:]) == "Q :"
    assert all(row.tokens[: row.shared] == tuple(opening) for row in rows_of(loaded))

"""The function that attention layers call while a trace runs, called by hand."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, causal_mask_function
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from models.edits import Ablate
from models.inputs.pretrained import prepare_inputs
from models.pretrained import interface
from models.pretrained.masks import LazyMask
from models.pretrained.passes import new_recording
from models.pretrained.recording import Recording
from models.run import as_model, trace
from tests.models.architectures import text
from tests.models.pretrained.tiny import BY_NAME, eager, ids, images_in_text, normal, qwen

HEADS, DIM = 3, 5
EXACT = 1e-6  # weights in float32


@contextmanager
def tracing() -> Iterator[tuple[Any, Recording]]:
    """The function and the record of a trace of BERT."""
    model = as_model(BY_NAME["BERT"].build())
    record = new_recording(model, prepare_inputs(model, ids(2, 7)))
    with interface.recording(model.network, record):
        yield ALL_ATTENTION_FUNCTIONS[interface.NAME], record


def qkv(queries: int, keys: int, batch: int = 1) -> tuple[Tensor, Tensor, Tensor]:
    q = normal(batch, HEADS, queries, DIM, seed=1)
    k, v = (normal(batch, HEADS, keys, DIM, seed=seed) for seed in (2, 3))
    return q, k, v


def layer(**settings: Any) -> nn.Module:
    made = nn.Module()
    for name, value in settings.items():
        setattr(made, name, value)
    return made


def lower(queries: int, keys: int, hole: bool, cached: int = 0) -> Tensor:
    """Each query's own key and those before it, without one cell if there is a hole."""
    seen = torch.ones(1, 1, queries, keys, dtype=torch.bool).tril(cached)
    if hole:
        seen[..., 2, 0] = False
    return seen


FULL = torch.ones(1, 1, 5, 5, dtype=torch.bool)
HOLED = FULL.clone()
HOLED[..., 2, 0] = False


@pytest.mark.parametrize(
    ("queries", "keys", "mask", "causal", "kind"),
    [
        (5, 5, None, True, "causal"),
        (2, 2, None, True, "causal"),
        (5, 5, None, None, "causal"),  # the library's default
        (5, 5, None, False, "self"),
        (5, 5, lower(5, 5, hole=False), False, "causal"),
        (5, 5, lower(5, 5, hole=True), False, "causal"),
        (5, 5, FULL, True, "self"),
        (5, 5, HOLED, True, "self"),
        (5, 3, lower(5, 3, hole=True), False, "self"),
        (5, 4, lower(5, 4, hole=False, cached=-1), False, "self"),
        (3, 5, lower(3, 5, hole=True, cached=2), False, "causal"),
        (3, 5, lower(3, 5, hole=True, cached=3), True, "self"),
        (5, 5, HOLED[..., :1], True, "self"),  # whole rows
        (1, 5, None, True, "causal"),  # a single query sees every key by any rule
        (1, 5, None, False, "self"),
        (1, 5, None, None, "self"),
    ],
)
def test_the_kind_of_a_layer(
    queries: int, keys: int, mask: Tensor | None, causal: bool | None, kind: str
) -> None:
    module = layer() if causal is None else layer(is_causal=causal)
    with tracing() as (attention, record):
        attention(module, *qkv(queries, keys), mask)
    assert record.calls[0].kind == kind
    seen = torch.ones(queries, keys, dtype=torch.bool) if mask is None else mask[0, 0]
    seen = seen.tril() if mask is None and causal is not False and queries > 1 else seen
    weights = record.calls[0].pattern.weights(item=0)
    assert ((weights > 0) == (seen & seen.any(-1, keepdim=True))).all()


@pytest.mark.parametrize("biased", [False, True])
def test_a_bias_by_position_is_added_to_the_mask_s(biased: bool) -> None:
    """T5's keyword, which may be longer than the keys."""
    q, k, v = qkv(5, 4)
    table, numbers = normal(1, HEADS, 5, 9, seed=7), normal(1, 1, 5, 4, seed=8)
    module = layer(is_causal=False)
    with tracing() as (attention, record):
        attention(module, q, k, v, numbers if biased else None, scaling=0.5, position_bias=table)
    scores = 0.5 * q @ k.mT + table[..., :4] + (numbers if biased else 0.0)
    assert (record.calls[0].pattern.weights() - scores.softmax(-1)).abs().max() < EXACT


# --- packed sequences ---------------------------------------------------------------------------

EDGES = torch.tensor([0, 3, 7], dtype=torch.int32)


@contextmanager
def packing() -> Iterator[tuple[Any, nn.Module, Recording]]:
    """The function, a layer over packed sequences, and the record of their trace."""
    model = as_model(qwen("Qwen2VL"))
    record = new_recording(model, prepare_inputs(model, images_in_text()))
    module = next(m for m in model.network.modules() if type(m).__name__ == "VisionAttention")
    with interface.recording(model.network, record):
        yield ALL_ATTENTION_FUNCTIONS[interface.PACKED], module, record


@pytest.mark.parametrize("both", [False, True])
def test_one_set_of_boundaries(both: bool) -> None:
    q, k, v = qkv(7, 7)
    given = {"cu_seq_lens_q": EDGES, "max_length_q": 4, "max_length_k": 4}
    given |= {"cu_seq_lens_k": EDGES.clone()} if both else {}
    with packing() as (attention, module, record):
        out, _ = attention(module, q, k, v, None, **given)
    parts = [
        torch.softmax(q[:, :, own] @ k[:, :, own].mT / DIM**0.5, -1) @ v[:, :, own]
        for own in (slice(0, 3), slice(3, 7))
    ]
    expected = torch.cat(parts, 2).transpose(1, 2)
    assert (out - expected).abs().max() < 1e-5
    assert record.calls[0].packing is not None


@pytest.mark.parametrize(
    ("given", "calls"),
    [
        ({"max_length_q": 4}, [7]),
        ({"cu_seq_lens_q": EDGES}, [7]),
        ({"cu_seq_lens_q": EDGES, "max_length_q": 4, "max_length_k": 4}, [3, 4]),
    ],
)
def test_packed_sequences_outside_of_a_trace(given: dict[str, Any], calls: list[int]) -> None:
    """One by one, without the boundaries; whole, where the keywords are not those of packing."""
    heads, seen = qkv(7, 7), []

    def own(q: Tensor, k: Tensor, v: Tensor, mask: None, **more: Any) -> tuple[Tensor, None]:
        seen.append((q.shape[2], more))
        return v.transpose(1, 2), None

    out, _ = interface._untraced(own, heads, None, 0.0, 0.5, {"is_causal": False, **given})
    assert out.equal(heads[2].transpose(1, 2))
    rest = given if len(calls) == 1 else {}
    told = {"dropout": 0.0, "scaling": 0.5, "is_causal": False, **rest}
    assert seen == [(tokens, told) for tokens in calls]


@pytest.mark.parametrize(
    ("mask", "other"),
    [
        (None, torch.tensor([0, 4, 7], dtype=torch.int32)),
        (torch.ones(1, 1, 7, 7, dtype=torch.bool), None),
        (torch.ones(1, 1, 7, 7, dtype=torch.bool), EDGES),
    ],
)
def test_boundaries_that_are_not_all_there_is(mask: Tensor | None, other: Tensor | None) -> None:
    given = {"cu_seq_lens_q": EDGES, "cu_seq_lens_k": other}
    message = "packs queries and keys differently, or masks them besides"
    with packing() as (attention, module, _), pytest.raises(ValueError, match=message):
        attention(module, *qkv(7, 7), mask, **given)


# --- masks, padding, hooks ----------------------------------------------------------------------


def test_only_a_trace_is_given_rules() -> None:
    """Outside, a model that another thread traces gets the library's own matrix."""
    asked: dict[str, Any] = {"batch_size": 1, "q_length": 5, "kv_length": 5, "q_offset": 0}
    asked |= {"mask_function": causal_mask_function, "allow_is_causal_skip": False}
    make = ALL_MASK_ATTENTION_FUNCTIONS[interface.NAME]
    config = BY_NAME["BERT"].build().config
    outside = make(config=config, **asked)
    with tracing():
        inside = make(config=config, **asked)
    assert isinstance(inside, LazyMask)
    assert not isinstance(outside, LazyMask)
    assert (inside & True).equal(outside)


def test_a_recipe_knows_the_padding_of_its_queries() -> None:
    """With and without edits."""
    given = text()
    expected = ~given["attention_mask"].bool()
    found = trace(BY_NAME["BERT"].build(), given)
    for site in found.sites:
        padding = found.pattern(site).mask.query_padding
        assert padding is not None
        assert padding.equal(expected)


def test_a_token_that_sees_nothing_and_that_none_sees_is_real_if_the_input_says_so() -> None:
    """It attends evenly, as under the library's own attention: no row of it is left out."""
    mask = torch.zeros(2, 1, 7, 7)
    mask[0, :, 2] = mask[0, :, :, 2] = torch.finfo(torch.float32).min
    network, given = BY_NAME["BERT"].build(), {"input_ids": ids(2, 7), "attention_mask": mask}
    found, expected = trace(network, given), eager(network, given)
    for layer in range(2):
        assert (found.weights(layer)[:, 2] - 1 / 7).abs().max() < EXACT
        assert (found.weights(layer) - expected.attentions[layer][0]).abs().max() < 1e-5


@pytest.mark.parametrize("edits", [(), (Ablate(0, 1),)], ids=["plain", "edited"])
def test_windows_become_one_map(edits: tuple[Ablate, ...]) -> None:
    """Two images of 4 × 2 in windows of 2 × 2; what a layer is given back is in windows again."""
    block, (q, k, v) = layer(window_size=2, shift_size=0), qkv(4, 4, batch=4)
    with tracing() as (attention, record):
        record.windows[""], record.edits = (block, (4, 2)), edits
        out, _ = attention(layer(is_causal=False), q, k, v, None)
    expected = torch.softmax(q @ k.mT / DIM**0.5, -1) @ v
    if edits:
        expected[:, 1] = 0.0
    assert (out - expected.transpose(1, 2)).abs().max() < 1e-5
    (call,) = record.calls
    assert call.blocks is not None
    assert (call.pattern.batch, call.pattern.queries, call.pattern.keys) == (2, 8, 8)


def test_only_what_is_needed_is_followed() -> None:
    """A text alone: its attention and what contains it, no block and no table."""
    model = as_model(BY_NAME["BERT"].build())
    record = new_recording(model, prepare_inputs(model, ids(2, 7)))
    with interface.recording(model.network, record):
        parts = model.network.named_modules()
        followed = {path for path, part in parts if part._forward_pre_hooks}
    attention = {f"encoder.layer.{number}.attention.self" for number in range(2)}
    assert followed == {"", "encoder", "encoder.layer", *attention}


def test_which_modules_are_blocks() -> None:
    with tracing() as (_, record):
        assert record.modules.containers == {"encoder.layer", "encoder", ""}
        blocks = ["encoder.layer.0", "encoder.layer.1", "0"]
        others = ["encoder.layer", "encoder.norm", "encoder.layer.0.1", "other.0", "embeddings"]
        assert all(interface._is_block(path, record) for path in blocks)
        assert not any(interface._is_block(path, record) for path in others)

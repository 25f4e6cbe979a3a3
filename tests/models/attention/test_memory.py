"""Attention at length makes nothing of the size of all its weights."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from models.attention import Dot, Mask, attend
from models.edits import Cut, Temperature
from models.encoder import Encoder, EncoderConfig
from models.run import trace

HEADS, TOKENS, DIM = 5, 1031, 7
PADDING = torch.zeros(1, TOKENS, dtype=torch.bool)
PADDING[:, 1009:] = True


class Largest(TorchDispatchMode):
    """Remembers the most elements any tensor made inside had."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(made):
            if isinstance(tensor, Tensor):
                self.elements = max(self.elements, tensor.numel())
        return made


def test_the_watch_sees_explicit_weights() -> None:
    q = torch.zeros(1, HEADS, TOKENS, DIM)
    with Largest() as watch:
        attend(q, q, q, score=Dot(softcap=1.0))
    assert watch.elements >= HEADS * TOKENS**2


@pytest.mark.parametrize("kv_heads", [1, 5])
@pytest.mark.parametrize(
    "call",
    [
        {},
        {"mask": Mask(causal=True)},
        {"mask": Mask(padding=PADDING)},
        {"mask": Mask(padding=PADDING, causal=True)},
        {"mask": Mask(window=17)},
        {"edit": Temperature(0.5, head=2)},
    ],
    ids=["plain", "causal", "padding", "padding, causal", "window", "temperature"],
)
def test_nothing_as_large_as_the_weights(call: dict, kv_heads: int) -> None:
    q, kv = torch.randn(1, HEADS, TOKENS, DIM), torch.randn(1, kv_heads, TOKENS, DIM)
    with Largest() as watch:
        attend(q, kv, kv, **call)
    rows_differ = "mask" in call and not (
        call["mask"].only_causal or call["mask"].same_for_all_rows
    )
    # A mask that differs from row to row takes one matrix for all heads; else only q-sized things
    assert watch.elements <= (TOKENS**2 if rows_differ else HEADS * TOKENS * DIM)


def test_a_traced_pass_keeps_no_weights() -> None:
    network = Encoder(EncoderConfig(vocab=11, dim=35, heads=5, depth=2, mlp=13, max_tokens=2000))
    ids = torch.zeros(1, TOKENS, dtype=torch.long)
    with Largest() as watch:
        trace(network, ids)
    assert watch.elements <= TOKENS * 36  # hidden states; the table of sines, one column wider


def test_a_cut_at_length_is_made_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mask of its own for every head would be as large as the weights."""
    monkeypatch.setattr("models.attention.functional.PASS_BYTES", 2**20)
    q = torch.randn(1, HEADS, TOKENS, DIM)
    with Largest() as watch:
        attend(q, q, q, edit=Cut(None, 1, 3, 5))
    assert watch.elements <= 2**20 / 4

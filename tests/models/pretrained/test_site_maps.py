"""The maps of one attention call, among modules made by hand."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.attention import attend
from models.inputs.sequences import named_tokens
from models.pretrained.attention_modules import AttentionModule
from models.pretrained.observation import ModuleCall
from models.pretrained.packed import Packing
from models.pretrained.recording import Call, Entry
from models.pretrained.site_maps import _adds, site_maps
from models.pretrained.windows import Blocks
from models.trace import TokenAxis

HEADS, TOKENS, DIM = 2, 5, 3
WIDTH = HEADS * DIM


class Layer:
    """x + attention(norm(x)), or norm(x + attention(x)); every module's call is noted."""

    def __init__(self, post: bool = False, beside: bool = False) -> None:
        torch.manual_seed(7)
        self.calls: list[ModuleCall] = []
        self.attended = 0
        before, after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        q, k, v, out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        parts = nn.ModuleList([before, after, q, k, v, out]).requires_grad_(False)
        for norm in (before, after):
            norm.weight.uniform_(0.5, 1.5)
        self.network = parts
        x = torch.randn(1, TOKENS, WIDTH)
        read = x if post else self.note(before, x)
        heads = [
            self.note(each, read).unflatten(-1, (HEADS, DIM)).transpose(1, 2) for each in (q, k, v)
        ]
        values, self.pattern = attend(*heads)
        self.attended = 1
        made = self.note(out, values.transpose(1, 2).flatten(2))
        if beside:  # feed-forward beside the attention: nothing reads the sum of the two alone
            self.note(after, x)
        else:
            self.note(after, x + made)
        self.x, self.out, self.before, self.after = x, made, before, after

    def note(self, module: nn.Module, given: Tensor) -> Tensor:
        made = module(given)
        self.calls.append(ModuleCall("part", module, given.clone(), made.clone(), self.attended))
        return made

    @property
    def call(self) -> Call:
        tokens = TokenAxis((named_tokens([str(n) for n in range(TOKENS)]),))
        place = AttentionModule("layers.0.attn", None, 0)
        entry = Entry(place, nn.Identity(), place.path, 0)
        return Call(entry, "self", self.pattern, (tokens, tokens))


@pytest.fixture(autouse=True)
def _seeded() -> Any:
    with torch.random.fork_rng():
        yield


def test_a_norm_before_the_attention() -> None:
    layer = Layer()
    found = site_maps(layer.call, 0, layer.calls)
    assert found.norm is not None
    assert found.norm.weight is layer.before.weight
    assert found.residual is not None
    assert found.residual.norm is None  # the stream goes on without it


def test_a_norm_after_the_sum() -> None:
    layer = Layer(post=True)
    found = site_maps(layer.call, 0, layer.calls)
    assert found.norm is None
    assert found.residual is not None
    assert found.residual.norm is not None
    assert found.residual.norm.weight is layer.after.weight


def test_a_sum_that_no_module_reads() -> None:
    layer = Layer(beside=True)
    found = site_maps(layer.call, 0, layer.calls)
    assert found.norm is not None
    assert found.residual is None


def test_a_norm_of_a_difference_is_no_residual() -> None:
    layer = Layer()
    last = layer.calls.pop()
    given = layer.x - layer.out
    layer.calls.append(replace(last, given=given, output=layer.after(given)))
    assert site_maps(layer.call, 0, layer.calls).residual is None


@pytest.mark.parametrize("which", [2, 3])
def test_keys_and_values_of_another_input(which: int) -> None:
    """Queries, keys and values read the same; in cross-attention queries may differ."""
    layer = Layer()
    other = torch.randn(1, TOKENS, WIDTH)
    at = {2: 2, 3: 3}[which]  # of the calls: norm, query, key, value
    call = layer.calls[at]
    made = call.module(other)
    layer.calls[at] = replace(call, given=other, output=made)
    heads = made.unflatten(-1, (HEADS, DIM)).transpose(1, 2)
    pattern = replace(layer.pattern, **{"k" if which == 2 else "v": heads})
    for kind in ("self", "cross"):
        with pytest.raises(ValueError, match="queries, keys and values of the same input"):
            site_maps(replace(layer.call, pattern=pattern, kind=kind), 0, layer.calls)


def test_keys_and_values_of_other_states_than_the_queries() -> None:
    layer = Layer()
    other = torch.randn(1, TOKENS, WIDTH)
    heads = {}
    for at, name in ((2, "k"), (3, "v")):
        call = layer.calls[at]
        layer.calls[at] = replace(call, given=other, output=call.module(other))
        heads[name] = layer.calls[at].output.unflatten(-1, (HEADS, DIM)).transpose(1, 2)
    values, pattern = attend(layer.pattern.q, heads["k"], heads["v"])
    call, merged = layer.calls[4], values.transpose(1, 2).flatten(2)
    layer.calls[4] = replace(call, given=merged, output=call.module(merged))
    crossing = replace(layer.call, pattern=pattern, kind="cross")
    assert site_maps(crossing, 0, layer.calls).key.given.equal(other)
    with pytest.raises(ValueError, match="queries, keys and values of the same input"):
        site_maps(replace(crossing, kind="self"), 0, layer.calls)


def test_windows_have_no_maps() -> None:
    layer = Layer()
    packing = Packing.of(torch.tensor([0, TOKENS]), [TOKENS])
    for more in ({"blocks": Blocks.of_image(1, TOKENS, 1, 0)}, {"packing": packing}):
        with pytest.raises(ValueError, match=r"layers\.0\.attn attends in windows"):
            site_maps(replace(layer.call, **more), 0, layer.calls)


def test_tensors_of_different_shapes_are_not_added() -> None:
    x = torch.ones(1, TOKENS, WIDTH)
    calls = [ModuleCall("part", nn.Identity(), 2 * x, 2 * x, 1)]
    assert _adds(calls, x, x)
    assert not _adds(calls, x, x[:, :1])
    assert not _adds(calls, x, 2 * x)

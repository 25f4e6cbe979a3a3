"""Several calls of one layer merged into one, and the maps of differential attention."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.attention import Pattern
from models.inputs.sequences import named_tokens
from models.pretrained.attention_modules import AttentionModule
from models.pretrained.differential import LAMBDAS, head_parts, merge_calls
from models.pretrained.recording import Call, Entry
from models.trace import TokenAxis

HEADS, TOKENS, DIM = 4, 3, 5


def noise(*shape: int, seed: int = 3) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def call(pattern: Pattern, module: nn.Module | None = None) -> Call:
    place = AttentionModule("layers.2.attn", None, 2)
    tokens = TokenAxis((named_tokens([str(n) for n in range(TOKENS)]),))
    entry = Entry(place, nn.Identity() if module is None else module, place.path, 2)
    return Call(entry, "causal", pattern, (tokens, tokens))


def pattern(seed: int = 0) -> Pattern:
    q, k, v = (noise(1, HEADS, TOKENS, DIM, seed=seed + n) for n in range(3))
    return Pattern(q, k, v)


def repeated(count: int, **other: Tensor) -> list[Call]:
    """Calls of one run with values of their own, and what is other in the last."""
    first = call(pattern())
    made = [
        replace(first, pattern=replace(first.pattern, v=noise(1, HEADS, TOKENS, DIM, seed=20 + n)))
        for n in range(count)
    ]
    made[-1] = replace(made[-1], pattern=replace(made[-1].pattern, **other))
    return made


@pytest.mark.parametrize("count", [2, 3])
def test_the_values_of_several_calls_lie_side_by_side(count: int) -> None:
    calls = repeated(count)
    (found,) = merge_calls(calls)
    assert found.entry is calls[0].entry
    assert found.pattern.v.equal(torch.cat([each.pattern.v for each in calls], -1))
    assert found.pattern.weights().equal(calls[0].pattern.weights())
    assert found.pattern.values_gradient is None
    graded = [
        replace(each, pattern=replace(each.pattern, values_gradient=each.pattern.v + 1))
        for each in calls
    ]
    (found,) = merge_calls(graded)
    assert found.pattern.values_gradient is not None
    assert found.pattern.values_gradient.equal(found.pattern.v + 1)


def test_runs_of_layers_stay_apart() -> None:
    first, second = call(pattern()), call(pattern(7))
    assert merge_calls([first, second]) == [first, second]


@pytest.mark.parametrize("what", ["q", "k"])
@pytest.mark.parametrize("count", [2, 3])
def test_a_layer_that_attends_to_several_things_is_refused(count: int, what: str) -> None:
    calls = repeated(count, **{what: noise(1, HEADS, TOKENS, DIM, seed=9)})
    message = rf"layers\.2\.attn attends {count} times in one pass, to different keys"
    with pytest.raises(ValueError, match=message):
        merge_calls(calls)


@pytest.mark.parametrize("initial", [0.8, torch.tensor(0.8), 0.0])
def test_the_factor_of_the_difference(initial: Any) -> None:
    """λ = exp(λq₁·λk₁) − exp(λq₂·λk₂) + λ₀, whether λ₀ is a number or a tensor."""
    vectors = [torch.tensor(each) for each in ([1.0, 0.0], [0.5, 3.0], [0.0, 2.0], [1.0, 0.25])]
    module = nn.Module()
    for name, each in zip(LAMBDAS, [*vectors, initial], strict=True):
        setattr(module, name, each)
    found = head_parts(call(pattern(), module))
    assert found is not None
    assert found.heads == 2
    factor = torch.tensor([0.5, 0.5]).exp()  # of λq₁·λk₁ and λq₂·λk₂
    expected = float(factor[0] - factor[1]) + float(initial)
    assert found.terms["A₁"] == ((1.0, 0),)
    assert found.terms["A₂"] == ((1.0, 2),)
    (one, first), (other, second) = found.terms["A₁ − λA₂"]
    assert (one, first, second) == (1.0, 0, 2)
    assert other == pytest.approx(-expected)
    assert head_parts(call(pattern())) is None

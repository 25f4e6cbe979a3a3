"""Linear maps found in what modules returned: with modules made by hand."""

from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from models.pretrained.linear_maps import (
    HeadMap,
    Linear,
    find_output,
    find_rotated,
    find_values,
    norm_of,
)
from models.pretrained.observation import ModuleCall

HEADS, TOKENS, DIM, WIDTH = 3, 5, 2, 7


def noise(*shape: int, seed: int = 3) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def linear(out: int, bias: bool = True, seed: int = 11) -> nn.Linear:
    made = nn.Linear(WIDTH, out, bias=bias)
    made.requires_grad_(False)
    made.weight.copy_(noise(out, WIDTH, seed=seed))
    return made


def called(module: nn.Linear, given: Tensor | None = None) -> ModuleCall:
    given = noise(1, TOKENS, WIDTH) if given is None else given
    return ModuleCall("a", module, given, module(given), 0)


def heads_of(made: Tensor, starts: list[int]) -> Tensor:
    return torch.stack([made.reshape(TOKENS, -1)[:, start : start + DIM] for start in starts])


@pytest.mark.parametrize("starts", [(0, 2, 4), (3, 5, 7), (4, 2, 0), (0, 4, 8), (6,)])
@pytest.mark.parametrize("factor", [1.0, 2.0, 0.5])
def test_the_matrices_of_heads(starts: tuple[int, ...], factor: float) -> None:
    """Rows of the weight; the weight itself where the heads lie one after another."""
    module = linear(10)
    found = HeadMap(Linear(module, False), starts, DIM, noise(1, TOKENS, WIDTH), factor)
    assert found.biases is not None
    for head, start in enumerate(starts):
        rows = slice(start, start + DIM)
        assert found.matrices[head].equal(module.weight[rows].T * factor)
        assert found.biases[head].equal(module.bias[rows] * factor)
    in_order = all(b - a == DIM for a, b in pairwise(starts))
    shared = found.matrices.untyped_storage().data_ptr() == module.weight.data_ptr()
    assert shared == (in_order and factor == 1)


def test_values_that_begin_alike() -> None:
    """Every column of a head counts, not its first; and no column is in two heads."""
    module = linear(12)
    weight, bias = module.weight, module.bias
    for column in (2, 4, 8):
        weight[column], bias[column] = weight[0], bias[0]
    call = called(module)
    for starts in ([0, 4, 8], [8, 4, 0], [2, 0, 10]):
        found = find_values([call], heads_of(call.output, starts))
        assert found is not None
        assert list(found.starts) == starts
    weight[9], bias[9] = weight[1], bias[1]
    call = called(module)
    found = find_values([call], heads_of(call.output, [0, 8, 4]))
    assert found is not None
    assert list(found.starts) == [0, 8, 4]
    assert find_values([call], heads_of(call.output, [0, 8, 4]) + 1) is None


@pytest.mark.parametrize("width", [HEADS * DIM - 1, HEADS * DIM - DIM, 1])
def test_a_module_that_makes_too_little(width: int) -> None:
    call, wanted = called(linear(width)), noise(HEADS, TOKENS, DIM)
    assert find_values([call], wanted) is None
    assert find_rotated([call], wanted) is None


def test_rows_without_an_axis_of_items() -> None:
    call = called(linear(HEADS * DIM), noise(TOKENS, WIDTH))
    for find in (find_values, find_rotated):
        found = find([call], heads_of(call.output, [2, 0, 4]))
        assert found is not None
        assert found.starts == (2, 0, 4)


def test_values_returned_unchanged() -> None:
    """As dropout does outside of training: the map is that of the module before."""
    call = called(linear(HEADS * DIM))
    again = ModuleCall("dropout", nn.Identity(), call.output, call.output, 0)
    found = find_values([call, again], heads_of(call.output, [0, 2, 4]))
    assert found is not None
    assert found.linear.module is call.module


@pytest.mark.parametrize("size", [1.0, 0.01])
def test_heads_in_another_order(size: int) -> None:
    """Told apart by the lengths of their queries, also where those of a token are zero."""
    given = size * noise(1, TOKENS, WIDTH)
    given[0, 2] = 0.0
    module = linear(HEADS * DIM, bias=False)
    module.weight *= torch.tensor([1.0, 10.0, 100.0]).repeat_interleave(DIM)[:, None]
    call = called(module, given)
    found = find_rotated([call], 2 * heads_of(call.output, [4, 0, 2]))
    assert found is not None
    assert found.starts == (4, 0, 2)


@pytest.mark.parametrize("by_heads", [False, True])
def test_a_norm_of_each_head(by_heads: bool) -> None:
    """Of rows of tokens, or of heads that are moved in front of them."""
    call, norm = called(linear(HEADS * DIM)), nn.RMSNorm(DIM, eps=1e-5)
    given = call.output.unflatten(-1, (HEADS, DIM))
    given = given.transpose(1, 2) if by_heads else given
    made = norm(given).detach()
    other = ModuleCall("norm", norm, given, made, 0)
    found = find_rotated([call, other], made[0] if by_heads else made[0].transpose(0, 1))
    assert found is not None
    assert found.norm is not None
    assert found.norm.weight is norm.weight
    assert (found.starts, found.rotation) == ((0, 2, 4), None)


def test_queries_behind_an_activation_are_no_linear_map() -> None:
    call, activation = called(linear(HEADS * DIM)), nn.ReLU()
    other = ModuleCall("b", activation, call.output, activation(call.output), 0)
    assert find_rotated([call, other], heads_of(other.output, [0, 2, 4])) is None


def test_queries_that_are_all_zero() -> None:
    """A layer that begins as nothing: its queries are its module's, whatever the factor."""
    module = linear(HEADS * DIM)
    for part in module.parameters():
        part.zero_()
    call = called(module)
    found = find_rotated([call], torch.zeros(HEADS, TOKENS, DIM))
    assert found is not None
    assert found.starts == (0, 2, 4)
    assert found.rotation is None
    assert found.matrices.isfinite().all()
    assert not found.matrices.any()


@pytest.mark.parametrize("size", [1.0, 0.01])
@pytest.mark.parametrize("factor", [1.0, 0.25, 3.0])
def test_queries_times_a_factor(factor: float, size: float) -> None:
    """Whatever the size of the numbers."""
    call = called(linear(2 * HEADS * DIM, bias=False), size * noise(1, TOKENS, WIDTH))
    key = HeadMap(Linear(call.module, False), (0, 2, 4), DIM, call.given)
    found = find_rotated([call], heads_of(call.output, [6, 8, 10]) * factor, [key])
    assert found is not None
    assert found.starts == (6, 8, 10)
    assert found.factor == pytest.approx(factor)
    assert found.biases is None


def test_what_reads_the_values_of_all_heads() -> None:
    """The first module that does, whatever it is given besides."""
    values = noise(HEADS, TOKENS, DIM)
    merged = values.permute(1, 0, 2).reshape(1, TOKENS, HEADS * DIM)
    module = nn.Linear(HEADS * DIM, WIDTH).requires_grad_(False)
    other = called(linear(4))
    call = ModuleCall("out", module, merged, module(merged), 1)
    found = find_output([other, call], values)
    assert found is not None
    assert found[1] is call
    assert find_output([other, call], values.flip(0)) is None
    assert find_output([other], values) is None


@torch.no_grad()
def test_which_modules_are_norms() -> None:
    """With or without a weight; one whose weight is not a factor of each feature is none."""
    x = noise(TOKENS, WIDTH)
    for module, kind in (
        (nn.LayerNorm(WIDTH), "layer"),
        (nn.LayerNorm(WIDTH, elementwise_affine=False), "layer"),
        (nn.RMSNorm(WIDTH, eps=1e-5, elementwise_affine=False), "rms"),
    ):
        found = norm_of(ModuleCall("a", module, x, module(x), 0))
        assert found is not None
        assert found.kind == kind
        assert (found(x) - module(x)).abs().max() < 1e-6
    other = nn.LayerNorm(WIDTH)
    other.weight = nn.Parameter(torch.ones(1))
    normed = torch.layer_norm(x, (WIDTH,))
    assert norm_of(ModuleCall("a", other, x, normed, 0)) is None


def test_a_module_of_another_width_than_whole_heads_is_passed_over() -> None:
    """Ten columns hold two heads of four, and two columns of something else."""
    given = torch.randn(5, 6, generator=torch.Generator().manual_seed(1))
    other, own = torch.nn.Linear(6, 10), torch.nn.Linear(6, 8)
    calls = [
        ModuleCall(name, module, given, module(given).detach(), 0)
        for name, module in (("own", own), ("other", other))
    ]
    wanted = calls[0].output.unflatten(1, (2, 4)).transpose(0, 1)
    found = find_rotated(calls, wanted)
    assert found is not None
    assert found.linear.module is own
    assert found.starts == (0, 4)


def test_weights_that_are_elsewhere_are_said_to_be() -> None:
    given = torch.randn(5, 6, generator=torch.Generator().manual_seed(1))
    module = torch.nn.Linear(6, 8)
    call = ModuleCall("layers.0.query", module, given, module(given).detach(), 0)
    with pytest.raises(ValueError, match=r"layers\.0\.query: expected weights that are in memory"):
        Linear.of(replace(call, module=module.to("meta")))

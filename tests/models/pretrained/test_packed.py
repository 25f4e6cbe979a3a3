"""Images packed into one sequence become items again: against the sequence and its segments."""

import pytest
import torch
from torch import Tensor

from models.attention import Mask, Pattern
from models.pretrained.packed import Packing

HEADS, DIM = 3, 5
ROUNDING = 1e-6  # of weights in float32


def noise(*shape: int, seed: int = 3) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("edges", "items", "lengths"),
    [
        ([0, 3, 5, 9], [5, 4], (5, 4)),
        ([0, 3, 5, 9], [3, 2, 4], (3, 2, 4)),
        ([0, 3, 5, 9], [4, 5], (9,)),  # no boundary of a segment
        ([0, 3, 5, 9], [3, 2], (9,)),  # not all tokens
        ([0, 9], [9], (9,)),
    ],
)
def test_items_end_where_segments_end(
    edges: list[int], items: list[int], lengths: tuple[int, ...]
) -> None:
    packing = Packing.of(torch.tensor(edges), items)
    assert packing.lengths == lengths
    assert packing.longest == max(lengths)
    expected = [max(n for n, edge in enumerate(edges) if edge <= token) for token in range(9)]
    assert packing.segment.tolist() == expected


def test_unpacking_and_packing() -> None:
    packing = Packing.of(torch.tensor([0, 3, 5, 9]), [5, 4])
    x = noise(1, HEADS, 9, DIM)
    apart = packing.unpack(x)
    assert apart.shape == (2, HEADS, 5, DIM)
    assert apart[0].equal(x[0, :, :5])
    assert apart[1, :, :4].equal(x[0, :, 5:])
    assert not apart[1, :, 4].any()
    assert packing.pack(apart).equal(x)


@pytest.mark.parametrize("edges", [[0, 5, 9], [0, 3, 5, 9], [0, 5, 7, 9]])
def test_each_item_has_its_part_of_the_map(edges: list[int]) -> None:
    packing = Packing.of(torch.tensor(edges), [5, 4])
    q, k, v = (noise(1, HEADS, 9, DIM, seed=seed) for seed in range(3))
    segment = packing.segment
    whole = Pattern(q, k, v, mask=Mask(dense=(segment[:, None] == segment)[None, None])).weights()
    made = packing.pattern(Pattern(q, k, v))
    assert (made.weights(item=0) - whole[0, :, :5, :5]).abs().max() < ROUNDING
    assert (made.weights(item=1)[:, :4, :4] - whole[0, :, 5:, 5:]).abs().max() < ROUNDING
    assert not made.weights(item=1)[:, :, 4].any()
    assert (made.mask.segments is None) == (edges == [0, 5, 9])
    padding = [[False] * 5, [False] * 4 + [True]]
    assert made.mask.padding is not None
    assert made.mask.query_padding is not None
    assert made.mask.padding.tolist() == made.mask.query_padding.tolist() == padding


def test_items_of_one_length_need_no_mask() -> None:
    x = noise(1, HEADS, 8, DIM)
    mask = Packing.of(torch.tensor([0, 4, 8]), [4, 4]).pattern(Pattern(x, x, x)).mask
    assert (mask.padding, mask.query_padding, mask.segments) == (None, None, None)


@pytest.mark.parametrize("lengths", [(5,), (3, 2), (2, 4, 3)])
def test_maps_of_whole_items(lengths: tuple[int, ...]) -> None:
    """One, two, or more segments that are items; none is left over or missing."""
    edges = torch.tensor([0, *lengths]).cumsum(0)
    packing = Packing.of(edges, lengths)
    maps = [noise(1, HEADS, count, count, seed=count) for count in lengths]
    found = packing.unpack_maps(maps)
    assert found is not None
    assert found.shape == (len(lengths), HEADS, max(lengths), max(lengths))
    for item, each in enumerate(maps):
        expected = torch.zeros(HEADS, max(lengths), max(lengths))
        expected[:, : lengths[item], : lengths[item]] = each[0]
        assert found[item].equal(expected)
    if len(lengths) > 1:
        assert packing.unpack_maps(maps[:-1]) is None
    assert packing.unpack_maps([*maps, maps[0]]) is None

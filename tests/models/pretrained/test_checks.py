"""What every trace checks of its maps: which faults it refuses, and what it lets pass."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from models.attention import Dot, Mask, Pattern
from models.inputs.sequences import named_tokens
from models.pretrained.attention_modules import AttentionModule
from models.pretrained.checks import check_call
from models.pretrained.recording import Call, Entry
from models.trace import TokenAxis

BATCH, HEADS, TOKENS = 2, 3, 5
ENTRY = Entry(AttentionModule("block.7.attention", None, 7), nn.Identity(), "block.7.attention", 7)


def axis(*counts: int, positions: tuple[Tensor, ...] | None = None) -> TokenAxis:
    return TokenAxis(tuple(named_tokens([str(n) for n in range(c)]) for c in counts), positions)


def call(pattern: Pattern | None = None, rows: TokenAxis | None = None) -> Call:
    x = torch.randn(BATCH, HEADS, TOKENS, 7, generator=torch.Generator().manual_seed(3))
    made = Pattern(x, x, x) if pattern is None else pattern
    axes = (axis(TOKENS, TOKENS) if rows is None else rows, axis(TOKENS, TOKENS))
    return Call(ENTRY, "self", made, axes)


def test_what_is_right_passes() -> None:
    fine = call()
    check_call(fine)
    check_call(replace(fine, pattern=replace(fine.pattern, score=Dot(sink=torch.ones(HEADS)))))
    hidden = torch.zeros(1, 1, TOKENS, TOKENS, dtype=torch.bool)
    check_call(replace(fine, pattern=replace(fine.pattern, mask=Mask(dense=hidden))))


def test_the_number_of_items() -> None:
    message = r"block\.7\.attention \(layer 7\): expected 2 items, received 3"
    with pytest.raises(ValueError, match=message):
        check_call(call(rows=axis(TOKENS, TOKENS, TOKENS)))


@pytest.mark.parametrize("item", range(BATCH))
def test_more_tokens_than_rows(item: int) -> None:
    counts = [TOKENS, TOKENS]
    counts[item] = TOKENS + 1
    with pytest.raises(ValueError, match="expected at most 5 queries, received 6"):
        check_call(call(rows=axis(*counts)))


def test_positions_of_other_tokens() -> None:
    places = (torch.arange(TOKENS), torch.arange(TOKENS - 1))
    with pytest.raises(ValueError, match="expected at most 5 queries, received 5"):
        check_call(call(rows=axis(TOKENS, TOKENS, positions=places)))


@pytest.mark.parametrize("row", [0, 2, 4])
def test_a_row_of_no_numbers(row: int) -> None:
    fine = call()
    q = fine.pattern.q.clone()
    q[1, HEADS - 1, row] = torch.nan
    with pytest.raises(ValueError, match="its weights are not numbers"):
        check_call(replace(fine, pattern=replace(fine.pattern, q=q)))


@pytest.mark.parametrize("row", [0, 2, 4])
def test_a_row_that_does_not_sum_to_one(row: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Pattern.weights

    def off(self: Pattern, head: int, rows: Tensor, *, item: int) -> Tensor:
        weights = whole(self, head, rows, item=item)
        return torch.where((rows == row)[:, None], 0.99 * weights, weights)

    monkeypatch.setattr(Pattern, "weights", off)
    with pytest.raises(ValueError, match=r"expected rows that sum to 1, received \[.*0\.99"):
        check_call(call())


def test_keys_that_cannot_be_named() -> None:
    """Uniform attention to five keys, four of which have a name."""
    x = torch.zeros(BATCH, HEADS, TOKENS, 7)
    made = replace(call(Pattern(x, x, x)), axes=(axis(TOKENS, TOKENS), axis(TOKENS, TOKENS - 1)))
    with pytest.raises(ValueError, match=r"own 4 keys would leave out 0\.20 of a row"):
        check_call(made)


def test_an_item_without_tokens_passes() -> None:
    check_call(call(rows=axis(TOKENS, 0)))

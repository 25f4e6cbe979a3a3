"""Matrices of other libraries read as the rules they stand for."""

import pytest
import torch
from torch import Tensor

from models.attention import Mask
from models.pretrained.masks import infer_mask, parse_mask
from models.run import trace
from tests.models.architectures import BY_NAME, ids, normal
from tests.models.library import eager

BATCH, TOKENS = 2, 11
BEHIND = torch.arange(TOKENS)[None].expand(BATCH, TOKENS) > torch.tensor([[10], [7]])
IN_FRONT = torch.arange(TOKENS)[None].expand(BATCH, TOKENS) < torch.tensor([[0], [3]])
RULES = {
    "nothing": Mask(),
    "padding": Mask(padding=BEHIND),
    "padding in front": Mask(padding=IN_FRONT),
    "causal": Mask(causal=True),
    "causal, padding": Mask(causal=True, padding=BEHIND),
    "causal, padding in front": Mask(causal=True, padding=IN_FRONT),
    "causal window": Mask(causal=True, window=4),
    "causal window, padding": Mask(causal=True, window=4, padding=IN_FRONT),
    "window": Mask(window=3),
    "window, padding": Mask(window=3, padding=BEHIND),
    "itself alone": Mask(causal=True, window=1),
    "itself and its neighbours": Mask(window=2),
}


def matrix(rule: Mask, queries: int = TOKENS) -> Tensor:
    seen = rule.visible(torch.arange(queries), TOKENS, range(1))
    everywhere = torch.ones(BATCH, 1, queries, TOKENS, dtype=torch.bool)
    return everywhere if seen is None else seen.expand_as(everywhere)


def same(found: Mask, rule: Mask) -> None:
    assert (found.causal, found.window, found.offset) == (rule.causal, rule.window, rule.offset)
    assert found.dense is None
    assert (found.padding is None) == (rule.padding is None)
    if rule.padding is not None and found.padding is not None:
        assert found.padding.equal(rule.padding)


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("lowest", [None, -1e4, -1e9, torch.finfo(torch.float32).min, -torch.inf])
def test_a_matrix_is_its_rule(name: str, lowest: float | None) -> None:
    seen = matrix(RULES[name])
    given = seen if lowest is None else torch.zeros(seen.shape).masked_fill(~seen, lowest)
    found = parse_mask(given, BATCH, TOKENS)
    assert found.bias is None
    same(found.mask, RULES[name])


def test_what_has_no_rule_stays_a_matrix() -> None:
    dice = torch.Generator().manual_seed(3)
    seen = torch.rand(BATCH, 1, TOKENS, TOKENS, generator=dice) > 0.3
    assert infer_mask(seen, BATCH).dense is not None
    heads = torch.rand(BATCH, 5, TOKENS, TOKENS, generator=dice) > 0.3
    found = infer_mask(heads, BATCH).dense
    assert found is not None
    assert found.equal(heads)
    prefix = matrix(Mask(causal=True)).clone()
    prefix[..., :4] = True  # an image in front that sees itself
    assert infer_mask(prefix, BATCH).dense is not None


def test_numbers_beside_the_mask_are_a_bias() -> None:
    dice = torch.Generator().manual_seed(3)
    bias = torch.randn(1, 5, TOKENS, TOKENS, generator=dice)
    seen = matrix(Mask(causal=True))
    found = parse_mask(bias.masked_fill(~seen, -torch.inf), BATCH, TOKENS)
    same(found.mask, Mask(causal=True))
    assert found.bias is not None
    assert (found.bias - bias.masked_fill(~seen, 0)).abs().max() == 0
    assert parse_mask(bias, BATCH, TOKENS).bias is bias
    assert parse_mask(torch.full((1, 1, 3, 3), -100.0), 1, 3).bias is not None  # faint, and no mask


LOWEST = torch.finfo(torch.float32).min


@pytest.mark.parametrize("low", [LOWEST, -1e4])
@pytest.mark.parametrize("name", ["BERT", "RoBERTa", "ALBERT"])
def test_a_row_of_lowest_numbers_is_what_the_model_makes_of_it(name: str, low: float) -> None:
    """Scores vanish beside such numbers, so the model attends evenly; the trace says so."""
    model = BY_NAME[name].build()
    given = {"input_ids": ids(2, TOKENS), "attention_mask": torch.zeros(2, 1, TOKENS, TOKENS)}
    given["attention_mask"][0, :, 3] = low
    given["attention_mask"][1, :, :, 9:] = low
    expected, found = eager(model, given), trace(model, given)
    for layer in range(2):
        for item in range(2):
            mine = found.weights(layer, item=item)
            assert (mine - expected.attentions[layer][item]).abs().max() < 1e-5
    if low == LOWEST:
        assert (found.weights(0, 0)[3] - 1 / TOKENS).abs().max() < 1e-6
    assert (found.output.values - expected.last_hidden_state).abs().max() < 1e-4
    assert found.empty_rows() == 0


def test_a_single_query_sees_every_key_without_a_mask() -> None:
    """As the library's fused attention has it, whatever the layer says."""
    model = BY_NAME["BERT decoder"].build()
    for layer in model.encoder.layer:
        layer.crossattention.self.is_causal = True
    given = {"input_ids": ids(1, 1), "encoder_hidden_states": normal(1, 5, 30)}
    found = trace(model, given)
    assert (found.weights(1, kind="cross") > 0).all()
    with torch.no_grad():
        assert found.output.values.equal(model(**given).last_hidden_state)


def test_low_rows_of_unknown_tokens() -> None:
    """A token that sees nothing and that none sees is padding; any other such row is even."""
    seen = matrix(Mask(causal=True, padding=IN_FRONT))
    hidden = torch.zeros(seen.shape).masked_fill(~seen, LOWEST)
    same(parse_mask(hidden, BATCH, TOKENS).mask, Mask(causal=True, padding=IN_FRONT))
    low = torch.zeros(BATCH, 1, TOKENS, TOKENS)
    low[0, :, 3] = LOWEST
    found = parse_mask(low, BATCH, TOKENS)
    same(found.mask, Mask())
    assert found.bias is not None
    assert (found.bias[0, 0, 3] == LOWEST).all()
    cross = parse_mask(low[:, :, :5], BATCH, TOKENS)
    same(cross.mask, Mask())
    assert cross.bias is not None
    assert (cross.bias[0, 0, 3] == LOWEST).all()
    endless = parse_mask(low.masked_fill(low == LOWEST, -torch.inf)[:, :, :5], BATCH, TOKENS)
    assert endless.bias is None  # no weights can be computed of such a row

"""A trace's answers: shapes, parts, names, refusals."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from models.edits import Cut
from models.encoder import Encoder, EncoderConfig
from models.run import Model, load, trace
from models.text import Tokens
from models.trace import TokenAxis, Trace
from tests.models.architectures import BY_NAME, padded

LAYERS, HEADS, TOKENS = 3, 5, (7, 3)


@pytest.fixture(scope="module")
def model() -> Model:
    return load(EncoderConfig(vocab=101, dim=35, depth=LAYERS, heads=HEADS, mlp=53, seed=3))


@pytest.fixture(scope="module")
def found(model: Model) -> Trace:
    """Two items of seven and three tokens."""
    return trace(model, ["one two three two one , .", "x y z"], hidden=True)


def test_sites_and_labels(found: Trace) -> None:
    assert [site.layer for site in found.sites] == [0, 1, 2]
    for site in found.sites:
        assert (site.kind, site.heads, site.queries, site.keys) == ("self", 5, 7, 7)
        assert site.tower is None
        assert found.query_labels(site) == found.key_labels(site) == found.labels
        assert found.query_labels(site, item=1) == found.key_labels(site, item=1) == ["x", "y", "z"]
    assert found.labels == ["one", "two", "three", "two", "one", ",", "."]
    assert found.site(1) == found.site(1, "self") == found.sites[1]


@pytest.mark.parametrize("item", [0, 1])
@pytest.mark.parametrize("layer", range(LAYERS))
def test_weights_are_the_patterns_without_padding(found: Trace, layer: int, item: int) -> None:
    n = TOKENS[item]
    whole = found.pattern(layer).weights()[item, :, :n, :n]
    weights = found.weights(layer, item=item)
    assert weights.shape == (HEADS, n, n)
    assert weights.dtype == torch.float32
    assert (weights - whole).abs().max() < 1e-6  # other shapes multiply in another order
    assert (weights.sum(-1) - 1).abs().max() < 1e-6  # float32 sums of at most 7
    for head in range(HEADS):
        assert (found.weights(layer, head, item=item) - whole[head]).abs().max() < 1e-6


@pytest.mark.parametrize(
    "rows", [[2, 0], slice(1, 3), slice(-1, None), range(2), (1,), torch.tensor([0, 0]), [], 2, -1]
)
@pytest.mark.parametrize("ask", ["weights", "scores"])
def test_rows(found: Trace, ask: str, rows: Any) -> None:
    """Counted from the item's own end, not the padding's."""
    given = rows if isinstance(rows, slice) else torch.as_tensor(rows).long().reshape(-1)
    picked = torch.arange(3)[given]
    question = getattr(found, ask)
    whole = question(1, item=1)
    part = question(1, 4, rows=rows, item=1)
    assert part.shape == (len(picked), 3)
    assert torch.allclose(part, whole[4, picked], rtol=0, atol=1e-6)  # scores are below 10
    assert question(1, rows=rows, item=1).shape == (HEADS, len(picked), 3)


@pytest.mark.parametrize("item", [0, 1])
@pytest.mark.parametrize("left", [False, True])
def test_blocks_hold_every_weight_of_an_item(found: Trace, item: int, left: bool) -> None:
    site, n = found.sites[1], TOKENS[item]
    if left:  # tokens behind their padding
        axis = TokenAxis(found.tokens, tuple(torch.arange(7 - n, 7) for n in TOKENS))
        found = replace(found, axes={site: (axis, axis)})
    cells = torch.zeros(HEADS, n, n)
    for block in found.blocks(site, item=item):
        cells[block.heads, block.rows, block.keys] += block.weights
    assert torch.allclose(cells, found.weights(1, item=item), rtol=0, atol=1e-6)


def test_what_a_query_sees_behind_padding() -> None:
    """Each token itself and those before it, wherever its padding is."""
    t = trace(BY_NAME["Llama"].build(), padded(2, 11, 4, left=True))
    rows = torch.tensor([5, 0, 3])
    for item, n in enumerate((11, 7)):
        expected = torch.arange(n) <= rows[:, None]
        assert t.visible(t.sites[1], rows, item=item)[0].equal(expected)


def test_hidden_states(found: Trace, model: Model) -> None:
    for item, count in enumerate(TOKENS):
        states = model.network(torch.tensor([found.tokens[item].ids])).states
        for layer in range(LAYERS + 1):
            mine = found.hidden(layer, item=item)
            assert mine.shape == (count, 35)
            # Hidden states of size 4 in float32
            assert (mine - states[layer][0]).abs().max() < 5e-6
    assert found.hidden(LAYERS).equal(found.output.values[0])
    assert not trace(model, "a b", hidden=True).hidden(0).requires_grad


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda t: t.weights(3), "layer: expected 0 to 2, received 3"),
        (lambda t: t.weights(-4), "layer: expected 0 to 2, received -4"),
        (lambda t: t.weights(0, -6), "head: expected 0 to 4, received -6"),
        (lambda t: t.pattern(7), "layer: .* received 7"),
        (lambda t: t.weights(0, 5), "head: expected 0 to 4, received 5"),
        (lambda t: t.weights(0, item=2), "item: expected 0 to 1, received 2"),
        (lambda t: t.hidden(0, item=-1), "item: expected 0 to 1, received -1"),
        (lambda t: t.query_labels(t.sites[0], item=2), "item: expected 0 to 1, received 2"),
        (lambda t: t.weights(0, rows=[3], item=1), r"rows: expected positions 0 to 2, received"),
        (lambda t: t.weights(0, rows=3, item=1), r"rows: expected positions 0 to 2, received"),
        (lambda t: t.weights(0, rows=[-1]), r"rows: expected positions 0 to 6, received \[-1\]"),
        (lambda t: t.weights(0, kind="cross"), r"layer 0 has \['self'\], received 'cross'"),
        (lambda t: t.hidden(4), "layer: expected 0 to 3, received 4"),
        (lambda t: t.hidden(-1), "layer: expected 0 to 3, received -1"),
        (lambda t: t.gradient(0), "no gradient recorded"),
    ],
)
def test_questions_without_an_answer(found: Trace, ask: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ask(found)


def test_hidden_states_are_asked_for(model: Model) -> None:
    with pytest.raises(ValueError, match="request them with trace"):
        trace(model, "a b").hidden(0)


def test_too_large_an_answer_names_rows() -> None:
    """5 heads of 4,099 × 4,099 take 320 MiB; one takes 64."""
    config = EncoderConfig(vocab=3, dim=5, depth=1, heads=5, mlp=2, max_tokens=4099)
    found = trace(Encoder(config), torch.zeros(1, 4099, dtype=torch.long))
    with pytest.raises(ValueError, match=r"would take 320 MiB \(at most 256\).*rows="):
        found.weights(0)
    with pytest.raises(ValueError, match="rows="):
        found.scores(0)
    assert found.weights(0, 4, rows=slice(None, None, 1000)).shape == (5, 4099)
    assert found.weights(0, rows=range(17)).shape == (5, 17, 4099)


def test_empty_rows_of_padding_do_not_count(model: Model) -> None:
    """Cut from all of the shorter item's keys, its three own rows are left with none."""
    texts = ["one two three two one , .", "x y z"]
    found = trace(model, texts, edits=[Cut(1, (0, 2), None, (0, 1, 2))])
    assert found.empty_rows() == 2 * 3
    assert found.weights(1, 2, item=1).eq(0).all()
    assert trace(model, texts).empty_rows() == 0


def test_answers_are_copies(model: Model) -> None:
    """Whoever writes into an answer, or into the labels, changes nothing for the next."""
    found = trace(model, "a b c")
    before = found.weights(0)
    found.weights(0).fill_(7)
    found.labels.append("d")
    assert found.weights(0).equal(before)
    assert found.labels == ["a", "b", "c"]


def test_padding_of_items() -> None:
    two, three = Tokens.of_ids([1, 2]), Tokens.of_ids([3, 4, 5])
    padding = TokenAxis((two, three)).padding(3)
    assert padding is not None
    assert padding.tolist() == [[False, False, True], [False, False, False]]
    assert TokenAxis((two, two)).padding(2) is None
    alike = TokenAxis((two, two)).padding(3)
    assert alike is not None
    assert alike.tolist() == [[False, False, True]] * 2


def test_negative_layers_and_heads_count_from_the_last(found: Trace) -> None:
    assert found.weights(-1, -1).equal(found.weights(2, 4))
    assert found.weights(-3).equal(found.weights(0))
    assert found.scores(-1, -2).equal(found.scores(2, 3))
    assert found.site(-1) == found.sites[2]
    assert found.pattern(-2) is found.pattern(1)

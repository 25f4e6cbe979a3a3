"""Traces of decoders and encoder–decoders: sites, labels, targets, gradients, edits."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from models.decoder import DecoderConfig
from models.inputs.own import greedy
from models.run import Model, load, trace
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.text import Tokens
from models.trace import Site, Trace

LAYERS, HEADS = 3, 5
DECODER = DecoderConfig(vocab=101, dim=35, depth=LAYERS, heads=HEADS, mlp=53, max_tokens=13, seed=3)
PAIR = Seq2SeqConfig(
    source_vocab=101,
    target_vocab=89,
    share_source=False,
    dim=35,
    depth=LAYERS,
    heads=HEADS,
    d_k=7,
    d_v=11,
    mlp=53,
    max_tokens=23,
    seed=3,
)
SOURCES, TARGETS = ["one two three two .", "x y z"], ["eins zwei", "a b c d e f"]
LENGTHS = {"source": (5, 3), "target": (3, 7)}  # the target begins with the begin symbol
ROUNDING = 5e-6  # float32 hidden states of size 4


@pytest.fixture(scope="module")
def decoder() -> Model:
    return load(DECODER)


@pytest.fixture(scope="module")
def pair() -> Model:
    return load(PAIR)


@pytest.fixture(scope="module")
def found(pair: Model) -> Trace:
    return trace(pair, SOURCES, TARGETS, hidden=True)


def ids_of(high: int, tokens: int, batch: int = 2) -> Tensor:
    dice = torch.Generator().manual_seed(5)
    return torch.randint(3, high, (batch, tokens), generator=dice)


# --- decoders ---------------------------------------------------------------------------------


def test_a_decoder(decoder: Model) -> None:
    found = trace(decoder, SOURCES, hidden=True)
    assert found.sites == tuple(
        Site(layer, "causal", HEADS, 5, 5, module=f"blocks.{layer}.attention")
        for layer in range(LAYERS)
    )
    assert found.output.name == "logits"
    assert found.output.values.shape == (2, 5, 101)
    assert found.target_tokens is None
    for item, text in enumerate(SOURCES):
        alone = trace(decoder, text, hidden=True)
        for site in found.sites:
            words = text.split()
            assert found.query_labels(site, item) == found.key_labels(site, item) == words
            weights = found.weights(site.layer, item=item)
            assert weights.triu(1).eq(0).all()
            assert (weights - alone.weights(site.layer)).abs().max() < ROUNDING
        assert (found.hidden(LAYERS, item) - alone.hidden(LAYERS)).abs().max() < ROUNDING
    assert found.empty_rows() == 0


# --- sites and labels of an encoder–decoder ---------------------------------------------------


def test_sites(found: Trace) -> None:
    encoder = [
        Site(layer, "self", HEADS, 5, 5, "encoder", f"encoder.blocks.{layer}.attention")
        for layer in range(LAYERS)
    ]
    decoder = [
        Site(layer, kind, HEADS, 7, keys, "decoder", f"blocks.{layer}.{name}")
        for layer in range(LAYERS)
        for kind, name, keys in (("causal", "attention", 7), ("cross", "cross", 5))
    ]
    assert list(found.sites) == encoder + decoder
    for site in found.sites:
        assert found.site(site.layer, site.kind) is site
    with pytest.raises(ValueError, match=r"layer 0 has \['self', 'causal', 'cross'\], received No"):
        found.weights(0)
    assert found.notes == ()


@pytest.mark.parametrize("item", [0, 1])
def test_labels_per_kind(found: Trace, item: int) -> None:
    source = SOURCES[item].split()
    target = ["<begin>", *TARGETS[item].split()]
    for site in found.sites:
        rows, columns = {
            "self": (source, source),
            "causal": (target, target),
            "cross": (target, source),
        }[site.kind]
        assert found.query_labels(site, item) == rows
        assert found.key_labels(site, item) == columns
    assert found.labels == SOURCES[0].split()
    assert found.target_tokens is not None
    assert found.target_tokens[item].special == (True,) + (False,) * (len(target) - 1)
    with pytest.raises(ValueError, match="item: expected 0 to 1, received 2"):
        found.key_labels(found.sites[4], item=2)


@pytest.mark.parametrize("item", [0, 1])
def test_weights_have_the_padding_of_each_side_removed(
    found: Trace, pair: Model, item: int
) -> None:
    alone = trace(pair, SOURCES[item], TARGETS[item], hidden=True)
    for site in found.sites:
        rows = LENGTHS["source" if site.kind == "self" else "target"][item]
        columns = LENGTHS["target" if site.kind == "causal" else "source"][item]
        weights = found.weights(site.layer, kind=site.kind, item=item)
        assert weights.shape == (HEADS, rows, columns)
        assert (weights.sum(-1) - 1).abs().max() < 1e-6  # float32 sums of at most 7
        single = alone.weights(site.layer, kind=site.kind)
        assert (weights - single).abs().max() < ROUNDING
        some = found.weights(site.layer, 2, kind=site.kind, item=item, rows=[2, 0])
        assert (some - weights[2, [2, 0]]).abs().max() < 1e-6
        scores = found.scores(site.layer, kind=site.kind, item=item)
        assert (torch.softmax(scores, -1) - weights).abs().max() < 1e-6
    for tower, side in (("encoder", "source"), ("decoder", "target")):
        for layer in range(LAYERS + 1):
            state = found.hidden(layer, item, tower=tower)
            assert state.shape == (LENGTHS[side][item], 35)
            assert (state - alone.hidden(layer, tower=tower)).abs().max() < ROUNDING


# --- targets ----------------------------------------------------------------------------------


def test_teacher_forcing(found: Trace, pair: Model) -> None:
    """The decoder reads begin and the target without its last, so that row i tells token i."""
    source, target = ids_of(101, 5), ids_of(89, 7)
    given = trace(pair, source, target)
    shifted = torch.cat([torch.ones(2, 1, dtype=torch.long), target[:, :-1]], 1)
    expected: Any = pair.network(source, shifted)
    assert given.output.name == "logits"
    assert given.output.values.equal(expected.logits)
    assert given.target_tokens is not None
    assert given.target_tokens[0].ids == tuple(shifted[0].tolist())
    assert given.target_tokens[0].labels[:2] == ("<begin>", str(int(target[0, 0])))
    assert found.target_tokens is not None
    assert found.output.values.shape == (2, 7, 89)  # six words and the end to tell


def test_what_the_model_writes_itself(pair: Model) -> None:
    found = trace(pair, SOURCES)
    network: Any = pair.network
    ids = torch.zeros(2, 5, dtype=torch.long)
    for row, item in enumerate(found.tokens):
        ids[row, : len(item)] = torch.tensor(item.ids)
    rows = greedy(network, ids, 15).tolist()
    assert found.target_tokens is not None
    for row, item in enumerate(found.target_tokens):
        assert item.ids == (1, *rows[row])[: len(item)]
        assert len(item) == 15
    (note,) = found.notes
    assert note.startswith("target: generated by the model")
    assert note.endswith("cut off after 15 tokens")


def test_a_target_that_ends(pair: Model) -> None:
    """To a network whose third token is the end, that is the end."""
    third = trace(pair, "x y z").target_tokens
    assert third is not None
    network = Seq2Seq(replace(PAIR, end=third[0].ids[3]))
    network.load_state_dict(pair.network.state_dict())
    found = trace(network, torch.tensor([trace(pair, "x y z").tokens[0].ids]))
    assert found.target_tokens is not None
    ids = third[0].ids[1:]
    assert found.target_tokens[0].ids == (1, *ids[: ids.index(network.config.end)])
    assert "cut" not in found.notes[0]
    assert found.output.values.argmax(-1)[0, -1] == network.config.end


class Ended:
    """A tokenizer that puts the end symbol behind every text itself."""

    def encode(self, text: str, pair: str | None = None) -> Tokens:
        return Tokens.of_ids([7, 11, 2])


def test_an_end_symbol_is_not_put_twice() -> None:
    found = trace(load(PAIR, tokenizer=Ended()), "a", "b")
    assert found.target_tokens is not None
    assert found.target_tokens[0].ids == (1, 7, 11)


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("", "a", "the input is empty"),
        ("a", "", "target is empty: expected at least one token"),
        ("a", ["b", ""], "target is empty"),
        (torch.zeros(1, 3).long(), "a", "the input is empty"),
        ("w " * 24, "a", "encoder–decoder, .* reads at most 23 tokens, received 24"),
        ("a", "w " * 23, "target: .* reads at most 23 tokens, received 24"),
        ("a", ["b", "c"], "target: expected 1 items, received 2"),
        (["a", "b"], "c", "target: expected 2 items, received 1"),
        (torch.tensor([[101]]), "a", "ids: expected 0 to 100, received 101 to 101"),
        ("a", torch.tensor([[3, 89]]), "target ids: expected 0 to 88, received 3 to 89"),
    ],
)
def test_refusals(pair: Model, source: Any, target: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trace(pair, source, target)

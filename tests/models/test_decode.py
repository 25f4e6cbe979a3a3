"""Writing step by step: what is written, and that keys and values kept change nothing."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from models.decoder import Decoder, DecoderConfig
from models.inputs.generation import reader_of
from models.inputs.own import greedy
from models.run import as_model
from models.seq2seq import Seq2Seq
from models.ssru import Translator, TranslatorConfig
from tests.models.test_seq2seq import SMALL

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

DECODER = DecoderConfig(
    vocab=101, dim=70, depth=3, heads=5, mlp=53, max_tokens=17, tied=False, seed=2
)
PAIR = replace(SMALL, norm="pre", max_tokens=17, share_target=False)
STEPS = 15
ROUNDING = 1e-5  # of the largest logit, after three layers of float32


def ids_of(batch: int = 2, tokens: int = 5) -> Tensor:
    return torch.randint(3, 101, (batch, tokens), generator=torch.Generator().manual_seed(7))


def lively(config: Any) -> Any:
    """A network that writes many ids: its output is its embedding, dealt to other ids."""
    network = Decoder(config) if isinstance(config, DecoderConfig) else Seq2Seq(config)
    dice = torch.Generator().manual_seed(3)
    tokens, output = network.embedding.tokens.weight, network.output.weight
    assert output is not None
    with torch.no_grad():
        tokens.normal_(generator=dice)
        output.copy_(tokens[torch.randperm(101, generator=dice)])
    return network.eval()


def ending(network: Seq2Seq, source: Tensor, ends: int) -> Seq2Seq:
    """The same network, to which the id that it writes after some steps is the end."""
    config = replace(network.config, end=int(greedy(network, source, STEPS)[0, ends]))
    found = Seq2Seq(config).eval()
    found.load_state_dict(network.state_dict())
    return found


def test_each_id_is_the_likeliest_of_one_pass() -> None:
    """All rows at once, given what was written."""
    translator = Translator(TranslatorConfig(vocab=101, dim=14, heads=7, mlp=11, max_tokens=17))
    for network in (lively(PAIR), translator.eval()):
        ids = ids_of()
        written = greedy(network, ids, STEPS)
        begin = torch.full((2, 1), network.config.begin)
        whole = network(ids, torch.cat([begin, written[:, :-1]], 1)).logits
        if isinstance(network, Seq2Seq):
            whole = whole.index_fill(2, torch.tensor([0]), -torch.inf)
        assert written.equal(whole.argmax(-1))


def test_a_reader_gives_the_logits_of_a_whole_pass() -> None:
    network = lively(DECODER)
    read, (ids, *_) = reader_of(as_model(network)), ids_of(1, 17)
    whole = network(ids[None]).logits[0]
    for count in (5, 6, 7, 17):
        logits = read(ids[:count])
        assert (logits - whole[count - 1]).abs().max() < ROUNDING * whole.abs().max()


def test_writing_stops_at_the_end() -> None:
    source, pair = ids_of(1), lively(PAIR)
    network = ending(pair, source, 4)
    before, written = greedy(pair, source, STEPS)[0].tolist(), greedy(network, source, STEPS)[0]
    assert written.tolist() == before[: before.index(network.config.end) + 1]


def test_an_item_that_ended_does_not_stop_the_others() -> None:
    network = ending(lively(PAIR), ids_of(1), 4)
    together = greedy(network, ids_of(3), STEPS)
    alone = [greedy(network, ids_of(3)[item : item + 1], STEPS)[0] for item in range(3)]
    for row, own in zip(together, alone, strict=True):
        assert row[: len(own)].equal(own)
    assert together.shape[1] == max(map(len, alone)) > 1


def test_padding_is_never_written() -> None:
    network = lively(PAIR)
    written = greedy(network, ids_of(), STEPS)
    with torch.no_grad():
        network.output.weight[0] = 100 * network.output.weight[int(written[0, 0])]
    begin = torch.full((2, 1), network.config.begin)
    assert network(ids_of(), begin).logits[0, 0].argmax() == 0
    assert greedy(network, ids_of(), STEPS).equal(written)

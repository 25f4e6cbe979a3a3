"""Writing step by step: what is written, and that keys and values kept change nothing."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from models.decode import greedy
from models.decoder import Decoder, DecoderConfig
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.ssru import Translator, TranslatorConfig

pytestmark = pytest.mark.usefixtures("unchecked_shapes")

DECODER = DecoderConfig(
    vocab=101, dim=70, depth=3, heads=5, mlp=53, max_tokens=17, tied=False, seed=2
)
PAIR = Seq2SeqConfig(
    source_vocab=101,
    target_vocab=101,
    dim=70,
    depth=3,
    heads=5,
    d_k=14,
    d_v=11,
    mlp=53,
    norm="pre",
    max_tokens=17,
    share_target=False,
    seed=2,
)
ROUNDING = 1e-5  # of the largest logit, after three layers of float32


def ids_of(batch: int = 2, tokens: int = 5) -> Tensor:
    return torch.randint(3, 101, (batch, tokens), generator=torch.Generator().manual_seed(7))


def steps_of(network: Any, ids: Tensor, **options: Any) -> tuple[Tensor, Tensor]:
    """What is written, `batch step`, and by which logits, `batch step vocab`."""
    steps = list(greedy(network, ids, **options))
    return torch.stack([s.ids for s in steps], 1), torch.stack([s.logits for s in steps], 1)


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
    written, _ = steps_of(network, source, end=-1)
    config = replace(network.config, end=int(written[0, ends]))
    found = Seq2Seq(config).eval()
    found.load_state_dict(network.state_dict())
    return found


def test_every_step_is_the_likeliest_of_one_pass() -> None:
    """All rows at once, given what was written: the logits of each step, and its choice."""
    translator = Translator(TranslatorConfig(vocab=101, dim=14, heads=7, mlp=11, max_tokens=17))
    for network in (lively(DECODER), lively(PAIR), translator.eval()):
        ids = ids_of()
        written, logits = steps_of(network, ids, end=-1)
        if isinstance(network, Decoder):
            whole = network(torch.cat([ids, written[:, :-1]], 1)).logits[:, 4:]
        else:
            begin = torch.full((2, 1), network.config.begin)
            whole = network(ids, torch.cat([begin, written[:, :-1]], 1)).logits
        assert (logits - whole).abs().max() < ROUNDING * whole.abs().max()
        if isinstance(network, Seq2Seq):
            whole = whole.index_fill(2, torch.tensor([0]), -torch.inf)
        assert written.equal(whole.argmax(-1))


def test_writing_stops_at_the_end() -> None:
    source = ids_of(1)
    network = ending(lively(PAIR), source, 4)
    before, _ = steps_of(network, source, end=-1)
    written, _ = steps_of(network, source)
    first = before[0].tolist().index(network.config.end)
    assert written[0].tolist() == before[0, : first + 1].tolist()


def test_an_item_that_ended_does_not_stop_the_others() -> None:
    network = ending(lively(PAIR), ids_of(1), 4)
    together, _ = steps_of(network, ids_of(3))
    items = [ids_of(3)[item : item + 1] for item in range(3)]
    alone = [steps_of(network, each)[0][0] for each in items]
    for row, own in zip(together, alone, strict=True):
        assert row[: len(own)].equal(own)
    assert together.shape[1] == max(map(len, alone)) > 1


def test_padding_is_never_written() -> None:
    network = lively(PAIR)
    written, _ = steps_of(network, ids_of(), end=-1)
    with torch.no_grad():
        network.output.weight[0] = 100 * network.output.weight[int(written[0, 0])]
    again, logits = steps_of(network, ids_of(), end=-1)
    assert logits[0, 0].argmax() == 0
    assert again.equal(written)


def test_limits() -> None:
    network = Decoder(DECODER).eval()
    assert steps_of(network, ids_of(2, 16))[0].shape == (2, 2)
    assert steps_of(network, ids_of(), limit=3)[0].shape == (2, 3)
    refusals = [
        ({"limit": 14}, ids_of(), "limit: expected 1 to 13, received 14"),
        ({"limit": 0}, ids_of(), "limit: expected 1 to 13, received 0"),
        ({}, ids_of(2, 18), "ids: expected at most 17 tokens, received 18"),
        ({}, ids_of(2, 0), "ids: expected at least one token"),
    ]
    for options, ids, message in refusals:
        with pytest.raises(ValueError, match=message):
            greedy(network, ids, **options)


def test_a_network_in_training_writes_without_dropout_and_goes_on_training() -> None:
    network = Seq2Seq(replace(PAIR, dropout=0.5)).train()
    network.blocks[1].eval()
    modes = [part.training for part in network.modules()]
    written, logits = steps_of(network, ids_of(), limit=3)
    assert [part.training for part in network.modules()] == modes
    again, expected = steps_of(network.eval(), ids_of(), limit=3)
    assert written.equal(again)
    assert logits.equal(expected)
    assert torch.is_grad_enabled()

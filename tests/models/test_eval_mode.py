"""Networks in training mode, traced and run by several threads at once."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
import torch
import transformers
from torch import nn

from models.encoder import Encoder, EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.structure import of_this_thread
from tests.models.architectures import BY_NAME

IDS = torch.tensor([[3, 4, 5, 6, 7, 8, 9]])
SIZES: dict[str, Any] = {"hidden_size": 30, "num_hidden_layers": 2, "num_attention_heads": 3}
PAIR = Seq2SeqConfig(dim=30, depth=2, heads=3, d_k=7, d_v=5, dropout=0.5)
WAIT = 60.0  # seconds; a thread that is not reached by then fails the test


def own() -> nn.Module:
    return Encoder(EncoderConfig(vocab=53, dim=30, depth=2, heads=3, mlp=37, dropout=0.5, seed=5))


def library() -> Any:
    torch.manual_seed(5)
    config = transformers.BertConfig(
        vocab_size=53, intermediate_size=37, hidden_dropout_prob=0.5, **SIZES
    )
    return transformers.BertModel(config)


@contextmanager
def trained_beside(network: nn.Module) -> Iterator[None]:
    """A loop that trains a network in another thread, and checks the modes of all of its parts."""
    modes = [part.training for part in network.modules()]
    began, ended, flipped = threading.Event(), threading.Event(), []

    def loop() -> None:
        while not ended.is_set():
            flipped.extend(modes != [part.training for part in network.modules()] for _ in range(9))
            began.set()

    thread = threading.Thread(target=loop)
    thread.start()
    assert began.wait(WAIT)
    yield
    ended.set()
    thread.join()
    assert not any(flipped)


@pytest.mark.parametrize("make", [own, library])
def test_a_trace_leaves_the_mode_of_a_network_that_is_trained_beside_it(
    make: Callable[[], nn.Module],
) -> None:
    network = make().eval()
    expected = trace(network, IDS).output.values
    network.train()
    next(network.children()).eval()
    with trained_beside(network), ThreadPoolExecutor(3) as threads:
        found = [*threads.map(lambda _: trace(network, IDS).output.values, range(11))]
    assert all(values.equal(expected) for values in found)


def test_a_trace_reads_the_weights_that_are_being_trained() -> None:
    network = own().train()
    model = load(network)
    network.train()
    before = trace(model, IDS, hidden=True)
    with torch.no_grad():
        for weights in network.parameters():
            weights.mul_(1.5)
    after = trace(model, IDS).output.values
    assert not after.equal(before.output.values)
    assert after.equal(trace(network.eval(), IDS).output.values)


@pytest.mark.parametrize("make", [own, library])
def test_a_network_that_is_set_to_training_meanwhile_is_refused(
    make: Callable[[], nn.Module],
) -> None:
    network = make().eval()
    with pytest.raises(ValueError, match="set to training mode while it was read"):
        trace(network, IDS, progress=lambda done, total: network.train(done > 0) and None)


def test_what_cannot_be_copied_is_refused_in_one_line() -> None:
    network = own().train()
    vars(network)["lock"] = threading.Lock()
    with pytest.raises(ValueError, match=r"Encoder is in training mode .* call its eval\(\)"):
        trace(network, IDS)
    trace(network.eval(), IDS)


@pytest.mark.parametrize("make", [lambda: Seq2Seq(PAIR), BY_NAME["BART"].build])
def test_a_target_is_generated_without_dropout(make: Callable[[], Any]) -> None:
    network = make()
    expected = trace(network.eval(), IDS).target_tokens
    for _ in range(3):
        assert trace(network.train(), IDS).target_tokens == expected


def test_a_hook_that_is_removed_in_the_pass_of_another_thread_is_skipped() -> None:
    network, given, seen = nn.Linear(3, 5), torch.ones(1, 3), []

    def note(module: nn.Module, args: tuple, kwargs: dict[str, Any], output: Any) -> None:
        seen.append((args, kwargs, output))

    first = network.register_forward_hook(lambda *_: second.remove())
    second = network.register_forward_hook(of_this_thread(note), with_kwargs=True)
    results: list[torch.Tensor] = []
    # second is removed in its pass
    other = threading.Thread(target=lambda: results.append(network(given)))
    other.start()
    other.join()
    assert (len(results), seen) == (1, [])
    first.remove()
    network.register_forward_hook(of_this_thread(note), with_kwargs=True)
    output = network(given)
    assert [args for args, _, _ in seen] == [(given,)]
    assert seen[0][2] is output

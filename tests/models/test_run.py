"""`trace`: what it takes, what it refuses, and what it leaves as it was."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.edits import Ablate, Cut
from models.encoder import Encoder, EncoderConfig
from models.run import Model, load, trace
from tests.models.tensors import ids_of

SMALL = EncoderConfig(vocab=101, dim=35, depth=3, heads=5, mlp=53, max_tokens=13, seed=3)


@pytest.fixture(scope="module")
def minilm() -> Model:
    return load("minilm")


@pytest.fixture(scope="module")
def small() -> Model:
    return load(SMALL)


# --- what trace takes -------------------------------------------------------------------------


def test_a_text(minilm: Model) -> None:
    found = trace(minilm, "The Über-cat")
    assert found.labels == ["[CLS]", "The", "Über", "-", "cat", "[SEP]"]
    assert found.model == "all-MiniLM-L6-v2"
    assert found.trained
    assert len(found.tokens) == 1


def test_a_pair_and_a_list_of_both(minilm: Model) -> None:
    pair = trace(minilm, ("a cat", "a dog"))
    assert pair.tokens[0].segments == (0, 0, 0, 0, 1, 1, 1)
    both = trace(minilm, ["a much longer text than the pair", ("a cat", "a dog")])
    assert both.tokens[1] == pair.tokens[0]
    for layer in range(6):
        off = (both.weights(layer, item=1) - pair.weights(layer)).abs().max()
        assert off < 1e-5  # float32 through six layers, in other shapes


def test_segments_reach_the_network(minilm: Model) -> None:
    found = trace(minilm, ("a cat", "a dog"), hidden=True)
    joined = trace(minilm, torch.tensor([found.tokens[0].ids]), hidden=True)
    assert (found.hidden(0)[:4] - joined.hidden(0)[:4]).abs().max() == 0
    assert (found.hidden(0)[4:] - joined.hidden(0)[4:]).abs().max() > 0.01


# --- what trace refuses -----------------------------------------------------------------------


REFUSED: dict[str, list[Any]] = {
    "the input is empty: expected at least one token": ["", " \n", ["a", ""], [], ids_of(1, 0)],
    "width 35 reads at most 13 tokens, received 14": ["w " * 14, ["a", "w " * 14], ids_of(2, 14)],
    "ids: expected 0 to 100, received 5 to 101": [torch.tensor([[5, 101]])],
    "ids: expected 0 to 100, received -1 to 3": [torch.tensor([[3, -1]])],
    "ids: expected 0 to 100, received 0 to 999": [torch.tensor([[0], [999]])],
    "lone surrogate": ["half \ud83d"],
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_read_is_refused(small: Model, message: str) -> None:
    for given in REFUSED[message]:
        with pytest.raises(ValueError, match=message):
            trace(small, given)


def test_more_texts_than_the_model_tells_apart() -> None:
    one = load(EncoderConfig(segments=1))
    with pytest.raises(ValueError, match=r"segments: .* reads at most 1, received 2"):
        trace(one, ("a", "b"))
    none = load(EncoderConfig())
    with pytest.raises(ValueError, match=r"segments: .* reads at most 1, received 2"):
        trace(none, {"input_ids": [[3, 4]], "token_type_ids": [[0, 1]]})
    assert trace(none, ("a", "b")).labels == ["a", "b"]


def test_text_without_a_tokenizer() -> None:
    with pytest.raises(ValueError, match="Encoder has no tokenizer: give it ids"):
        trace(Encoder(SMALL), "text")


# --- gradients --------------------------------------------------------------------------------


def test_a_gradient_leaves_nothing_behind(small: Model) -> None:
    found = trace(small, ids_of(), hidden=True, gradient=lambda out: out.values.sum())
    assert all(parameter.grad is None for parameter in small.network.parameters())
    tensors = [found.output.values, found.hidden(1), found.weights(0), found.gradient(0)]
    assert not any(tensor.requires_grad for tensor in tensors)


@pytest.mark.parametrize("outside", [torch.no_grad, torch.enable_grad])
def test_gradients_do_not_depend_on_the_caller(small: Model, outside: Any) -> None:
    with outside():
        found = trace(small, ids_of(), gradient=lambda out: out.values.square().sum())
        assert found.gradient(2).abs().max() > 0
        assert torch.is_grad_enabled() == (outside is torch.enable_grad)
        assert not trace(small, ids_of()).pattern(0).q.requires_grad


def test_gradient_needs_one_number(small: Model) -> None:
    with pytest.raises(ValueError, match=r"gradient: expected one number, received \(2, 11, 35\)"):
        trace(small, ids_of(), gradient=lambda out: out.values)
    with pytest.raises(ValueError, match="gradient: expected a number that depends on the output"):
        trace(small, ids_of(), gradient=lambda out: torch.tensor(1.0))
    with pytest.raises(ValueError, match="no gradient recorded"):
        trace(small, ids_of()).gradient(0)


class Quantised(nn.Linear):
    """A map whose weights are whole numbers."""

    def forward(self, input: Tensor) -> Tensor:
        return input.detach() @ self.weight.float().T + self.bias


def test_quantised_weights_that_pass_no_gradient_are_named() -> None:
    network: Any = Encoder(SMALL)
    last = network.blocks[2].feed_forward.down
    last.__class__, weight = Quantised, last.weight
    last.weight = nn.Parameter((9 * weight.detach()).char(), requires_grad=False)
    line = r"^blocks.2.feed_forward.down.weight \(torch.int8\) passes no gradient, as quantised"
    with pytest.raises(ValueError, match=line):
        trace(network, ids_of(), gradient=lambda output: output.values.sum())


# --- what trace leaves as it was --------------------------------------------------------------


@pytest.mark.parametrize("training", [False, True])
def test_the_model_is_as_it_was(training: bool) -> None:
    """A network that is being trained goes on in training mode, part by part."""
    network = Encoder(SMALL).train(training)
    network.blocks[1].eval()
    modes = [part.training for part in network.modules()]
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    dice = torch.get_rng_state()
    edits = [Ablate(0, 1, "shuffled"), Cut(1, 2, 3, 4)]
    first = trace(network, ids_of(), edits=edits, gradient=lambda out: out.values.sum())
    assert trace(network, ids_of(), edits=edits).output.values.equal(first.output.values)
    assert [part.training for part in network.modules()] == modes
    assert torch.get_rng_state().equal(dice)
    assert all(tensor.equal(before[name]) for name, tensor in network.state_dict().items())


def test_threads_get_their_own_results(small: Model) -> None:
    def job(seed: int) -> list[Tensor]:
        edits = [Ablate(seed % 3, seed % 5)] if seed % 2 else []
        gradient = (lambda out: out.values.square().sum()) if seed % 4 == 0 else None
        found = trace(small, ids_of(1, 5 + seed % 7, seed), edits=edits, gradient=gradient)
        return [found.weights(layer) for layer in range(3)] + [found.output.values]

    alone = [job(seed) for seed in range(23)]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(job, range(23)))
    for expected, found in zip(alone, together, strict=True):
        for one, other in zip(expected, found, strict=True):
            assert torch.allclose(one, other, rtol=0, atol=1e-5)  # sums may be split otherwise


def test_threads_build_the_same_network() -> None:
    """Weights are drawn from one generator per process: two at a time would mix."""
    configs = [EncoderConfig(dim=36, depth=1, seed=seed) for seed in (1, 2)]
    expected = [Encoder(config).tokens.weight for config in configs]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda n: Encoder(configs[n % 2]).tokens.weight, range(11)))
    assert all(weight.equal(expected[n % 2]) for n, weight in enumerate(found))

"""Relevance against explicit propagation, plain products of matrices, and finite differences."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.relevance import METHODS, explain, reader, relevance
from models.attnlrp import AttnLRP, secant
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from models.vit import ViTConfig
from models.where import Where
from tests.models.architectures import BY_NAME, build

IDS = torch.randint(3, 31, (1, 7), generator=torch.Generator().manual_seed(2))
SIZES: dict[str, Any] = {"dim": 10, "heads": 2, "depth": 1, "mlp": 13, "seed": 1}
SEQ2SEQ = Seq2SeqConfig(
    source_vocab=31, target_vocab=31, dim=10, heads=2, d_k=5, d_v=3, depth=2, mlp=13, seed=3
)


# --- AttnLRP by relevances instead of gradients ---------------------------------------------------


def through_linear(x, weight, z, relevance):
    """R_x = x · Wᵀ(R / z): what each input adds to each output, as its share of the output."""
    return x * ((relevance / z) @ weight)


def through_norm(x, norm, relevance):
    """A norm is the linear layer γ (x − mean) / σ, its deviation a constant."""
    dim = x.shape[-1]
    centre = torch.eye(dim).double() - 1 / dim
    out = torch.empty_like(x)
    for token, row in enumerate(x):
        deviation = (row.var(unbiased=False) + norm.eps).sqrt()
        matrix = norm.weight.double()[:, None] * centre / deviation
        z = matrix @ row + norm.bias.double()
        out[token] = through_linear(row, matrix, z, relevance[token])
    return out


def through_attention(layer, x, relevance):
    """Uniform rule for both products, Taylor rule for the softmax, head by head."""
    config, parts = layer.config, torch.zeros_like(x)
    q, k, v = (
        x @ linear.weight.double().T + linear.bias.double()
        for linear in (layer.query, layer.key, layer.value)
    )
    heads, values, weights, scores = [], [], [], []
    for head in range(config.heads):
        part = slice(head * config.width, (head + 1) * config.width)
        score = q[:, part] @ k[:, part].T / config.width**0.5
        weight = torch.softmax(score, -1)
        heads.append(part)
        scores.append(score)
        weights.append(weight)
        values.append(weight @ v[:, part])
    merged = torch.cat(values, -1)
    z = merged @ layer.out.weight.double().T + layer.out.bias.double()
    to_values = through_linear(merged, layer.out.weight.double(), z, relevance)
    to_q, to_k, to_v = (torch.zeros_like(q) for _ in range(3))
    for part, score, weight, value in zip(heads, scores, weights, values, strict=True):
        share = to_values[:, part] / value
        to_weights = 0.5 * weight * (share @ v[:, part].T)
        to_v[:, part] = 0.5 * v[:, part] * (weight.T @ share)
        to_scores = score * (to_weights - weight * to_weights.sum(-1, keepdim=True))
        ratio = to_scores / score / config.width**0.5
        to_q[:, part] = 0.5 * q[:, part] * (ratio @ k[:, part])
        to_k[:, part] = 0.5 * k[:, part] * (ratio.T @ q[:, part])
    for linear, z, found in (
        (layer.query, q, to_q),
        (layer.key, k, to_k),
        (layer.value, v, to_v),
    ):
        parts = parts + through_linear(x, linear.weight.double(), z, found)
    return parts


def through_feed_forward(layer, x, relevance):
    up = x @ layer.up.weight.double().T + layer.up.bias.double()
    hidden = layer.activation(up)
    z = hidden @ layer.down.weight.double().T + layer.down.bias.double()
    found = through_linear(hidden, layer.down.weight.double(), z, relevance)
    return through_linear(x, layer.up.weight.double(), up, found)  # identity rule in between


def propagated(network, ids, position, class_):
    """The relevance of every token of a post-norm encoder, from the logit to the embedding."""
    states = network(ids).states
    out = network(ids)
    x = out.hidden[0].double()
    relevance = torch.zeros_like(x)
    relevance[position] = x[position] * network.head.weight.double()[class_]
    for block, state in zip(reversed(network.blocks), reversed(states[:-1]), strict=True):
        x = state[0].double()
        attended = block.attention.double()(x[None])[0][0]
        first = x + attended
        normed = block.after_attention.norm.double()(first)
        fed = block.feed_forward.double()(normed[None])[0]
        second = normed + fed
        relevance = through_norm(second, block.after_feed_forward.norm, relevance)
        share = relevance / second
        relevance = normed * share + through_feed_forward(block.feed_forward, normed, fed * share)
        relevance = through_norm(first, block.after_attention.norm, relevance)
        share = relevance / first
        relevance = x * share + through_attention(block.attention, x, attended * share)
    return relevance.sum(-1)


@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("depth", [1, 2])
def test_attnlrp_is_explicit_propagation(activation, depth):
    config = EncoderConfig(**{**SIZES, "depth": depth}, vocab=31, classes=5, activation=activation)
    model = load(config)
    with torch.no_grad():
        for name, parameter in model.network.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(0, 0.3, generator=torch.Generator().manual_seed(len(name)))
    found = explain(model, IDS, target=(2, 3), method="attnlrp")
    with torch.no_grad():
        expected = propagated(copy.deepcopy(model.network).double(), IDS, 2, 3)
    torch.testing.assert_close(found.tokens.double(), expected, rtol=1e-5, atol=1e-5)
    assert found.unassigned == pytest.approx(found.value - float(expected.sum()), abs=1e-5)


@cache
def tiny(name: str) -> Any:
    """A tiny model of the library without biases, and its first input."""
    network = BY_NAME[name].build()
    with torch.no_grad():
        for path, parameter in network.named_parameters():
            if path.endswith("bias"):
                parameter.zero_()
    return load(network), {key: value[:1] for key, value in BY_NAME[name].inputs().items()}


@pytest.mark.parametrize("name", ["GPT-2", "Llama", "T5", "BART"])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_for_models_of_the_library(name, method):
    model, inputs = tiny(name)
    found = explain(model, inputs, target=(3, 5), method=method)
    assert len(found.tokens) == len(found.trace.labels)
    assert found.tokens.abs().max() > 0
    plain = trace(model, inputs).output.values[0, 3, 5]
    assert found.value == pytest.approx(float(plain), abs=1e-5)
    if found.trace.target_tokens is not None:
        assert found.target_tokens is not None
        assert len(found.target_tokens) == len(found.trace.target_tokens[0])


# --- attention times gradient ---------------------------------------------------------------------


def by_autograd(network, ids, position, class_):
    """Weights and their gradients, from attention written out with a leaf of its own."""
    out = network(ids)
    weights = [p.weights().detach()[0] for p in out.patterns]
    gradients = []
    for layer in range(len(weights)):
        leaf = weights[layer].clone().requires_grad_()

        @dataclass(frozen=True)
        class Given:
            where: Where
            leaf: Any

            def edit_weights(self, w, heads, rows, pattern, item):
                return self.leaf[list(heads)][:, rows] + 0 * w

        logit = network(ids, edits=[Given(Where(layer), leaf)]).logits[0, position, class_]
        gradients.append(torch.autograd.grad(logit, leaf)[0])
    return weights, gradients


@pytest.mark.parametrize(
    "config",
    [
        EncoderConfig(**{**SIZES, "depth": 3}, vocab=31, classes=5),
        EncoderConfig(
            **{**SIZES, "depth": 2, "heads": 1}, vocab=31, classes=5, norm="pre", positions="rotary"
        ),
        DecoderConfig(**{**SIZES, "depth": 2}, vocab=31),
    ],
)
def test_chefer_and_gradient_by_plain_products(config):
    model = load(config)
    weights, gradients = by_autograd(model.network, IDS, 4, 3)
    expected, total = torch.eye(7), torch.zeros(7)
    for weight, gradient in zip(weights, gradients, strict=True):
        expected = expected + (weight * gradient).clamp(min=0).mean(0) @ expected
        total = total + (weight * gradient).sum((0, 1))
    found = relevance(model, IDS, target=(4, 3), method="chefer")
    torch.testing.assert_close(found, expected[4] - torch.eye(7)[4], rtol=1e-4, atol=1e-6)
    found = relevance(model, IDS, target=(4, 3), method="gradient")
    torch.testing.assert_close(found, total.detach(), rtol=1e-4, atol=1e-6)


def test_chefer_of_an_encoder_decoder_by_its_rules():
    model = load(SEQ2SEQ)
    found = explain(model, IDS, target=(2, 9), method="chefer", written=IDS[:, :4])
    t = found.trace

    def layer(number, kind):
        products = t.weights(number, kind=kind) * t.gradient(number, kind=kind)
        return products.clamp(min=0).mean(0)

    def hat(matrix):
        rest = matrix - torch.eye(len(matrix))
        sums = rest.sum(-1, keepdim=True)
        return rest / torch.where(sums > 0, sums, 1.0) + torch.eye(len(matrix))

    read = len(t.query_labels(t.site(0, "causal")))
    ii, qq, qi = torch.eye(7), torch.eye(read), torch.zeros(read, 7)
    for number in range(2):
        ii = ii + layer(number, "self") @ ii
    for number in range(2):
        causal = layer(number, "causal")
        qq, qi = qq + causal @ qq, qi + causal @ qi
        qi = qi + hat(qq).T @ layer(number, "cross") @ hat(ii)
    torch.testing.assert_close(found.tokens, qi[2])
    torch.testing.assert_close(found.target_tokens, qq[2] - torch.eye(read)[2])


# --- targets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_similarity_of_two_sentences(method):
    model = load("minilm")
    found = explain(model, "The cat sat", target="A dog lies there", method=method)
    with torch.no_grad():
        means = [
            trace(model, text).output.values[0].mean(0)
            for text in ("The cat sat", "A dog lies there")
        ]
    cosine = torch.cosine_similarity(*means, dim=0)
    assert found.value == pytest.approx(float(cosine), abs=1e-6)
    assert len(found.tokens) == len(found.trace.labels)


# --- the mode itself ------------------------------------------------------------------------------


def test_outputs_are_as_without_the_mode():
    model = load(EncoderConfig(**SIZES, vocab=31, classes=5, norm="pre"))
    plain = trace(model, IDS).output.values
    under = trace(model, IDS, gradient=lambda output: output.values[0, 0, 0], rules="attnlrp")
    assert torch.equal(plain, under.output.values)
    x = torch.tensor([-2.0, 0.0, 3.0], requires_grad=True)
    (slope,) = torch.autograd.grad(secant(x, torch.tanh(x)).sum(), x)
    expected = torch.tensor([math.tanh(2) / 2, 0, math.tanh(3) / 3])
    torch.testing.assert_close(slope, expected)
    y = torch.tensor([5.0, 7.0, 11.0], requires_grad=True)
    with AttnLRP():
        found = torch.autograd.grad((x * y).sum(), [x, y])
    torch.testing.assert_close(found[0], y.detach() / 2)
    torch.testing.assert_close(found[1], x.detach() / 2)


# --- what the output is read from -----------------------------------------------------------------

PICTURE: dict[str, Any] = {
    "image_size": 12,
    "patch_size": 4,
    "hidden_size": 10,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 13,
    "num_labels": 5,
}
VIT: dict[str, Any] = {"image": 12, "patch": 4, "dim": 10, "heads": 2, "depth": 2, "mlp": 13}
PATCHES = torch.full((9,), 1 / 9)
HEADS: dict[str, tuple[Callable[[], Any], Tensor]] = {  # with the share of each token
    "DINOv2: class token beside the mean of the patches": (
        lambda: build("Dinov2ForImageClassification", "Dinov2Config", PICTURE),
        torch.cat([torch.tensor([0.5]), PATCHES / 2]),
    ),
    "ViT: class token": (
        lambda: build("ViTForImageClassification", "ViTConfig", PICTURE),
        torch.tensor([1.0] + 9 * [0]),
    ),
    "BEiT: mean of the patches": (
        lambda: build("BeitForImageClassification", "BeitConfig", PICTURE),
        torch.cat([torch.zeros(1), PATCHES]),
    ),
    "ours: class token": (lambda: ViTConfig(**VIT, classes=5), torch.tensor([1.0] + 9 * [0])),
    "ours: mean": (
        lambda: ViTConfig(**VIT, classes=5, head="mean", registers=2),
        torch.cat([torch.zeros(2), PATCHES]),
    ),
    "ours: post-norm": (
        lambda: ViTConfig(**VIT, classes=5, head="mean", norm="post"),
        PATCHES,
    ),
}


@pytest.mark.parametrize("head", HEADS)
def test_chefer_follows_what_the_head_reads(head):
    made, shares = HEADS[head]
    model, pixels = load(made()), torch.randn(1, 3, 12, 12, generator=torch.Generator())
    found = explain(model, pixels, target=2, method="chefer")
    expected = torch.eye(len(shares))
    for site in found.trace.sites:
        product = found.trace.weights(site) * found.trace.gradient(site)
        expected = expected + product.clamp(min=0).mean(0) @ expected
    torch.testing.assert_close(reader(found.trace, found.trace.sites[-1]), shares)
    expected = shares @ (expected - torch.eye(len(shares)))
    torch.testing.assert_close(found.tokens, expected, rtol=1e-4, atol=1e-7)


def test_without_final_states_tokens_after_the_last_attention_have_equal_shares():
    model = load(ViTConfig(**VIT, classes=5, head="mean", registers=2))
    t = trace(model, torch.randn(1, 3, 12, 12), gradient=lambda output: output.values[0, 2])
    assert not t.hidden_states
    torch.testing.assert_close(reader(t, t.sites[-1]), torch.cat([torch.zeros(2), PATCHES]))
    with pytest.raises(ValueError, match="expected a trace with gradients"):
        reader(trace(model, torch.randn(1, 3, 12, 12)), t.sites[-1])

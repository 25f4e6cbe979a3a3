"""The head layer: logits, probabilities, cross entropy, top-k accuracy."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from models.output import Projection, cross_entropy, log_softmax, softmax, top_k_accuracy
from tests.models.devices import DEVICES

BATCH, TOKENS, VOCAB, DIM = 3, 7, 11, 5
ROUNDING = 1e-6  # float32 sums of a few dozen numbers below 10


def logits_of(*shape: int) -> Tensor:
    return 3 * torch.randn(*shape, generator=torch.Generator().manual_seed(5))


def targets_of(*shape: int) -> Tensor:
    found = torch.randint(VOCAB, shape, generator=torch.Generator().manual_seed(7))
    found[0, :2] = 0  # padding is there
    return found


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("padding", [None, 0])
def test_cross_entropy_equals_torch(padding: int | None, smoothing: float, device: str) -> None:
    logits, targets = logits_of(BATCH, TOKENS, VOCAB), targets_of(BATCH, TOKENS)
    found = cross_entropy(
        logits.to(device), targets.to(device), padding=padding, smoothing=smoothing
    ).cpu()
    ignored = -100 if padding is None else padding
    theirs = F.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=ignored, label_smoothing=smoothing
    )
    assert abs(float(found - theirs)) < 10 * ROUNDING  # losses near 5 in float32


def test_cross_entropy_by_hand() -> None:
    even = torch.zeros(1, 4)
    assert float(cross_entropy(even, torch.tensor([2]))) == pytest.approx(math.log(4))
    sure = torch.tensor([[0.0, 1000.0, 0.0]])  # exp would overflow
    assert float(cross_entropy(sure, torch.tensor([1]))) == 0
    assert float(cross_entropy(sure, torch.tensor([0]))) == 1000


def test_softmax() -> None:
    logits = logits_of(BATCH, VOCAB)
    assert (softmax(logits) - torch.softmax(logits, -1)).abs().max() < ROUNDING
    assert (log_softmax(logits) - torch.log_softmax(logits, -1)).abs().max() < 10 * ROUNDING
    assert (softmax(logits).sum(-1) - 1).abs().max() < ROUNDING
    assert (softmax(logits + 500) - softmax(logits)).abs().max() < 1e-3  # 500 costs ten bits


@pytest.mark.parametrize("k", [1, 3, VOCAB])
@pytest.mark.parametrize("padding", [None, 0])
def test_top_k_accuracy_equals_a_loop(k: int, padding: int | None) -> None:
    logits, targets = logits_of(BATCH, TOKENS, VOCAB), targets_of(BATCH, TOKENS)
    hits = []
    for line, target in zip(logits.flatten(0, 1).tolist(), targets.flatten().tolist(), strict=True):
        best = sorted(range(VOCAB), key=lambda i: -line[i])[:k]
        if target != padding:
            hits.append(target in best)
    found = float(top_k_accuracy(logits, targets, k, padding=padding))
    assert found == pytest.approx(sum(hits) / len(hits))
    assert found == 1 or k < VOCAB


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, y: cross_entropy(x, y, smoothing=1.5), "smoothing: expected 0 to 1, received 1"),
        (lambda x, y: cross_entropy(x, y + VOCAB), "target: expected 0 to 10, received 1"),
        (lambda x, y: cross_entropy(x, y - VOCAB), "target: expected 0 to 10, received -"),
        (lambda x, y: cross_entropy(x, 0 * y, padding=0), "at least one that is not padding"),
        (lambda x, y: top_k_accuracy(x, 0 * y, padding=0), "at least one that is not padding"),
        (lambda x, y: top_k_accuracy(x, y, 0), "k: expected 1 to 11, received 0"),
        (lambda x, y: top_k_accuracy(x, y, 12), "k: expected 1 to 11, received 12"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(logits_of(BATCH, TOKENS, VOCAB), targets_of(BATCH, TOKENS))


def test_projection() -> None:
    hidden, shared = logits_of(BATCH, TOKENS, DIM), logits_of(VOCAB, DIM)
    own = Projection(DIM, VOCAB)
    assert own.weight is not None
    assert own(hidden).equal(hidden @ own.weight.T)
    tied = Projection(DIM, VOCAB, has_weight=False, scale=0.5)
    assert not list(tied.parameters())
    assert (tied(hidden, shared) - 0.5 * hidden @ shared.T).abs().max() < 10 * ROUNDING
    for call in (lambda: tied(hidden), lambda: own(hidden, shared)):
        with pytest.raises(ValueError, match="shared: expected weights if, and only if"):
            call()


def test_a_loss_weight_scales_loss_and_gradient() -> None:
    logits = torch.tensor([[0.5, -1.0, 2.0], [0.0, 0.25, 1.0]], requires_grad=True)
    target = torch.tensor([2, 0])
    (plain,) = torch.autograd.grad(cross_entropy(logits, target), logits)
    loss = cross_entropy(logits, target, weight=2.5)
    (scaled,) = torch.autograd.grad(loss, logits)
    plain_loss = cross_entropy(logits, target).item()
    assert loss.item() == pytest.approx(2.5 * plain_loss)
    assert scaled.allclose(2.5 * plain)

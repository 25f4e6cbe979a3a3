"""The head layer: every number against torch, and that it moves."""

import pytest
import torch
import torch.nn.functional as F

from tests.viz.pages.helpers import choose, specs
from tests.viz.pages.lessons.pages import numbers, whole, words
from viz.pages.lessons import tables
from viz.pages.lessons.head_layer.page import OTHERS, TARGETS, H, W
from viz.pages.lessons.tables import number

EXACT = 6e-5  # four decimals, half a digit of the last, and what float32 adds


def shown(app) -> list[float]:
    """h, W, logits, exponentials, probabilities and gradient, as they stand."""
    return numbers(app)[: 3 + 12 + 4 * 4]


def expected(h: list[float], target: int, smoothing: float = 0.0) -> list[float]:
    logits = (torch.tensor(W) @ torch.tensor(h)).requires_grad_()
    loss = F.cross_entropy(logits[None], torch.tensor([target]), label_smoothing=smoothing)
    (gradient,) = torch.autograd.grad(loss, logits)
    logits = logits.detach()
    weights = [value for row in W for value in row]
    parts = (logits, (logits - logits.max()).exp(), logits.softmax(0), gradient)
    return [*h, *weights, *(value for part in parts for value in part.tolist())]


@pytest.mark.parametrize("target", [1, 2, 3, 4])
@pytest.mark.parametrize("smoothing", ["0", "0.3"])
def test_every_number_is_torchs(target: int, smoothing: str) -> None:
    app = whole("head_layer", target=target, smoothing=smoothing)
    wanted = expected(list(H[0]), target - 1, float(smoothing))
    assert shown(app) == pytest.approx(wanted, abs=EXACT)


@pytest.mark.parametrize("place", [1, 2, 3])
def test_every_number_moves_with_the_vector(place: int) -> None:
    app = whole("head_layer")
    before = shown(app)[15:]
    choose(app, "head_layer", f"h1{place}", 2.5)
    after = shown(app)[15:]
    still = {n for n in range(16) if before[n] == after[n]}
    assert still <= {4, 5, 6, 7}  # the exponential of the largest is always 1
    h = [2.5 if n == place - 1 else value for n, value in enumerate(H[0])]
    assert shown(app) == pytest.approx(expected(h, 0), abs=EXACT)


def test_the_batch() -> None:
    vectors, targets = torch.tensor([H[0], *OTHERS]), torch.tensor([0, *TARGETS])
    logits = vectors @ torch.tensor(W).T
    loss = F.cross_entropy(logits, targets).item()
    said = words(whole("head_layer", loss_weight="0.5"))
    assert f"mean loss × 0.5 {number(loss / 2)}" in said
    said = words(whole("head_layer", k=2))
    assert f"mean loss {number(loss)}" in said
    for k in (1, 2, 3, 4):
        hits = sum(int(t in row.topk(k).indices) for row, t in zip(logits, targets, strict=True))
        assert f"top-{k} accuracy {number(hits / 4)}" in said


def test_even_logits() -> None:
    said = words(whole("head_layer", h11="0.0", h12="0.0", h13="0.0"))
    assert "−log p = 1.3863" in said
    assert said.count("0.2500") >= 4


def test_the_trained_network_knows_its_letters() -> None:
    app = whole("head_layer", letters="magnet", position=0)
    spec = specs(app)[0]
    assert "“magnet” backwards, position 0" in spec["layout"]["title"]["text"]
    assert spec["layout"]["yaxis"]["ticktext"][0] == "t"
    choose(app, "head_layer", "letters", "")
    assert any("expected 4 to 12 letters, received 0" in error.value for error in app.error)
    app = whole("head_layer", letters="star", position=11)
    title = specs(app)[0]["layout"]["title"]["text"]
    assert "“star” backwards, position 3" in title
    assert any("4 letters: the last one is shown" in line.value for line in app.caption)
    assert "To take away" in words(app)


def test_a_smoothed_loss_is_written_out_and_counts_in_the_batch() -> None:
    said = words(whole("head_layer", smoothing="0.3"))
    logits = torch.tensor(W) @ torch.tensor(H[0])
    loss = F.cross_entropy(logits[None], torch.tensor([0]), label_smoothing=0.3).item()
    logs = -logits.log_softmax(0)
    shares = torch.tensor([0.775, 0.075, 0.075, 0.075])
    assert f"{tables.dot(shares.tolist(), logs.tolist())} = {tables.number(loss)}" in said
    assert f"among the best 1; loss {tables.number(loss)}" in said
    batch = torch.stack([logits, *(torch.tensor(W) @ torch.tensor(h) for h in OTHERS)])
    mean = F.cross_entropy(batch, torch.tensor([0, *TARGETS]), label_smoothing=0.3).item()
    assert f"mean loss {tables.number(mean)}" in said

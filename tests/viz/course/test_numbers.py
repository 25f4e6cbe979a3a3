"""What boards show and several lessons share, against torch, plain loops and closed forms."""

import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from models.attention import Mask, attend
from models.encoder import Encoder, EncoderConfig
from models.seeding import seeded
from tests.models.tensors import noise
from viz.api import figures
from viz.course.block.numbers import STACK_TOKENS, STACK_WIDTH, batch_normed, growth, last_gradient
from viz.course.both.numbers import NARROW, deviations
from viz.course.decoder.numbers import hidden_row
from viz.course.dictionary.numbers import CASES, case, edit_distance, normalised
from viz.course.head_layer.numbers import WEIGHTS, WORDS
from viz.course.heads_do.numbers import other_weights
from viz.course.numbers import follow
from viz.course.position.numbers import LONG, SLIPS, WIDE, misread
from viz.course.sequences.numbers import DIM, recurrence


def board(lesson: str, step: str, **inputs: object) -> dict[str, Any]:
    """The tables of a board by title, each row by name, and its facts."""
    query = [*((name, str(each)) for name, each in inputs.items()), ("board", step)]
    answer = figures.numbers(lesson, query)()["board"]
    panels = {each["title"]: each for row in answer.pop("rows") for each in row}
    return answer | {
        title: dict(zip(each["rows"], each["values"], strict=True)) if each["rows"] else each
        for title, each in panels.items()
    }


def test_a_head_is_followed_step_by_step() -> None:
    """Heads that share keys; rows whose exponentials no float32 holds are shifted."""
    q, k, v = noise(2, 6, 5, 7), noise(2, 3, 5, 7, seed=2), noise(2, 3, 5, 7, seed=3)
    for factor in (1.0, 1e3, -1e3):
        values, pattern = attend(q, factor * k, v, mask=Mask(causal=True))
        found = follow(pattern, head=5)
        products = q[0, 5] @ (factor * k[0, 2]).T
        rounded: Any = {
            "rtol": 1e-5 * abs(factor),
            "atol": 1e-6 * abs(factor),
        }  # of scores that large
        torch.testing.assert_close(found["products"], products)
        torch.testing.assert_close(found["scores"], products / 7**0.5)
        torch.testing.assert_close(found["values"], values[0, 5], **rounded)
        assert found["exponentials"].isfinite().all()
        assert found["shifts"].any() == (factor != 1)
        torch.testing.assert_close(found["weights"], found["exponentials"] / found["sums"][:, None])
        masked = (products / 7**0.5).masked_fill(torch.ones(5, 5).triu(1).bool(), -math.inf)
        expected = (masked - found["shifts"][:, None]).exp()
        torch.testing.assert_close(found["exponentials"], expected, **rounded)


def test_edit_distance_against_plain_recursion() -> None:
    def plain(a: str, b: str) -> int:
        if not a or not b:
            return len(a) + len(b)
        replaced = plain(a[1:], b[1:]) + (a[0] != b[0])
        return min(replaced, plain(a[1:], b) + 1, plain(a, b[1:]) + 1)

    names = ("", "Ann", "Mike", "Miche", "Andre", "pi")
    assert all(edit_distance(a, b) == plain(a, b) for a in names for b in names)


def test_weights_of_a_dictionary_and_their_cases() -> None:
    some = torch.tensor([0.3, 0.2, 1.1, 0.7, 0.0])
    expected = {
        "none": some.tolist(),
        "one-hot": [0, 0, 1, 0, 0],
        "top-k": [0, 0, 0.5, 0.5, 0],
        "average": [0.2] * 5,
        "sum": [each / 2.3 for each in some.tolist()],
    }
    for how, weights in expected.items():
        assert normalised(some, how).tolist() == pytest.approx(weights), how
    exps = [math.exp(2 * each) for each in some.tolist()]
    softmax = [each / sum(exps) for each in exps]
    assert normalised(some, "softmax", 0.5).tolist() == pytest.approx(softmax)
    weights = ([0, 0], [0, 1], [0.5, 0.5], [0.25, 0.75], [0.5, 0.75], [1.5, -0.5])
    assert [case(torch.tensor(each)) for each in weights] == list(CASES)


def test_batch_norm_is_torchs() -> None:
    x = noise(7, 5)
    torch.testing.assert_close(batch_normed(x), nn.BatchNorm1d(5, affine=False).train()(x))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_states_and_gradients_of_a_stack_are_those_of_the_loss(norm: str) -> None:
    config: Any = {"vocab": 97, "dim": STACK_WIDTH, "depth": 2, "heads": 4, "norm": norm}
    network = Encoder(EncoderConfig(**config, mlp=4 * STACK_WIDTH, dropout=0.0))
    dice = torch.Generator().manual_seed(0)
    ids = torch.randint(97, (4, STACK_TOKENS), generator=dice)
    out, wanted = network(ids), torch.randn(4, STACK_TOKENS, STACK_WIDTH, generator=dice)
    F.mse_loss(out.hidden, wanted).backward()
    sizes, gradient = growth(norm, 2)
    expected = network.get_parameter("blocks.1.feed_forward.down.weight").grad
    assert expected is not None
    assert gradient == pytest.approx(expected.norm().item(), rel=1e-4)
    assert sizes == pytest.approx([x.pow(2).mean().sqrt().item() for x in out.states], rel=1e-5)
    # theorem 1 of Xiong et al. 2020: of the order of 1/√depth, and of 1
    ratio = last_gradient(norm, 16) / last_gradient(norm, 1)
    assert ratio < 0.5 if norm == "pre" else ratio > 0.8


def test_scalings_of_shared_matrices() -> None:
    emb, prj, none = (deviations(True, each)[0] for each in ("emb", "prj", "none"))
    assert emb[0] == prj[0] == none[0]
    assert emb[1] == pytest.approx(NARROW**0.5 * emb[0])
    assert prj[1] == none[1] == none[0]
    assert none[3] == pytest.approx(NARROW**0.5 * prj[3], rel=1e-4)  # the same network, divided
    assert deviations(False, "emb") == deviations(False, "none")


def test_a_row_that_sees_nothing() -> None:
    found = hidden_row(torch.tensor([0.3, -1.0, 2.0, 0.7, 1.1]))
    assert found["−∞, as here"].eq(0).all()
    assert found["−∞, a plain softmax"].isnan().all()
    assert (found["−1e9"] - 0.2).abs().max() < 1e-7  # five keys, however they score
    assert found["−1e9 in half precision"].isnan().all()


def test_smoothing_and_ranks_are_torchs() -> None:
    h, target = [0.9, -0.6, 1.1], 2
    logits = (WEIGHTS @ torch.tensor(h)).requires_grad_()
    inputs = {"h": ";".join(map(str, h)), "target": target}
    found = board("head_layer", "smooth", smoothing="0.3", **inputs)
    loss = F.cross_entropy(logits[None], torch.tensor([target]), label_smoothing=0.3)
    (gradient,) = torch.autograd.grad(loss, logits)
    assert found["loss"] == pytest.approx(loss.item(), rel=1e-5)
    assert found["Loss"]["sum"] == pytest.approx([1, 1, loss.item()], rel=1e-5)
    smoothed = [row[1] for row in found["Gradient p − y"].values()]
    assert smoothed == pytest.approx(gradient.tolist(), rel=1e-4)
    ranked = board("head_layer", "topk", **inputs)["Probabilities of a batch of four"]
    for row in ranked.values():
        right = WORDS.index(row[4])
        assert int(row[5]) == sorted(row[:4], reverse=True).index(row[right]) + 1
        assert float(row[6]) == pytest.approx(-math.log(float(row[right])), abs=1e-2)


@pytest.mark.parametrize("seed", range(3))
def test_other_weights_have_the_same_output(seed: int) -> None:
    chance = torch.Generator().manual_seed(seed)
    values = torch.randn(7, 3, generator=chance)
    weights = torch.randn(7, generator=chance).softmax(-1)
    found = other_weights(weights, values)
    torch.testing.assert_close(found @ values, weights @ values)
    assert found.sum().item() == pytest.approx(1, abs=1e-5)
    assert 0 <= found.min() < 1e-6  # as far as it goes, to a rounding of float32
    assert (found - weights).abs().sum() > 0.05


@pytest.mark.parametrize("slip", SLIPS)
def test_a_misprinted_table_number_by_number(slip: str) -> None:
    table = misread(slip)
    for place in range(0, LONG, 7):
        for pair in range(WIDE // 2):
            right = 2 * pair / WIDE
            exponents: dict[str, float] = dict(
                zip(SLIPS, (right, right + 1 / WIDE, 2 * pair + 1 / WIDE), strict=True)
            )
            sine, cosine = math.sin(place / 1e4**right), math.cos(place / 1e4 ** exponents[slip])
            assert table[place, 2 * pair : 2 * pair + 2].tolist() == pytest.approx(
                [sine, cosine], abs=1e-5
            )


def test_the_penalties_of_heads_in_closed_form() -> None:
    found = board("position", "alibi", position=3)["weights, where all scores are equal"]
    for slope in (2, 256):
        exps = [math.exp(-(3 - key) / slope) for key in range(4)]
        shares = [each / sum(exps) for each in exps]
        assert found[f"1/{slope}"] == pytest.approx(shares, rel=1e-5)


@pytest.mark.parametrize(("window", "ahead"), [(11, 0), (3, 0), (11, 10)])
def test_the_decoders_weights_are_a_softmax_over_the_band(window: int, ahead: int) -> None:
    query = [("window", str(window)), ("ahead", str(ahead))]
    found = figures.numbers("decoder", query)()
    for i, scores in enumerate(found["scores"]):
        seen = [i - window < j <= i + ahead for j in range(len(scores))]
        exps = [math.exp(s) if see else 0 for s, see in zip(scores, seen, strict=True)]
        assert found["visible"][i] == seen
        assert found["weights"][i] == pytest.approx([e / sum(exps) for e in exps], abs=1e-4)


def test_a_head_that_copies_is_right_only_if_it_sees_the_answer() -> None:
    """Position 3 of “begin the king saw the …” has seen “the” once; e¹² / (e¹² + 8) is nearly 1."""
    found = board("decoder", "cheat")
    masked, seen = ([*found["copies, under the mask"].values()], found["copies, no mask"]["values"])
    assert masked[3] == [pytest.approx(0.25)] * 4 + [None] * 5
    assert seen[3][4] == pytest.approx(math.exp(12) / (math.exp(12) + 8), rel=1e-5)
    assert found["copying"][1] > 0.999 > 0.1 > found["copying"][0]


def test_the_induction_head_finds_what_followed_last_time() -> None:
    found = figures.numbers("heads_do", [("head", "1")])()
    assert found["found_weight"] == max(found["weights"][1][7])
    assert (found["asks"], found["finds"], found["before"]) == ("cobalt", "planet", "cobalt")
    assert found["predicted"] == found["best"][7]
    without = figures.numbers("heads_do", [("head", "1"), ("ablated", "0")])()
    assert without["weights"] == found["weights"]
    assert without["changed"]["weights"][1][7][4] < 0.7 < found["found_weight"]


def test_the_key_with_most_weight_changes_next_to_nothing() -> None:
    found = board("heads_do", "hide")
    (rows,) = (each for title, each in found.items() if "hidden one by one" in title)
    weights, _ = zip(*rows.values(), strict=True)
    assert sum(weights) == pytest.approx(1, abs=1e-5)
    assert found["hidden"] == "near"
    assert (round(found["weight"], 2), round(found["change"], 2)) == (0.91, 0.01)


def test_another_last_word_moves_what_it_looks_at() -> None:
    tired, wide = (
        figures.numbers("sequences", [("ending", end)])()["reads"] for end in ("tired", "wide")
    )
    assert (tired["words"][tired["at"]], wide["words"][-2]) == ("it", "wide")
    assert tired["animal"] == max(tired["weights"]) > 2 * wide["animal"]
    assert wide["street"] > 2 * tired["street"]


@pytest.mark.parametrize("activation", ["tanh", "none"])
def test_influence_of_a_recurrence_is_a_product_of_slopes(activation: str) -> None:
    with seeded(0):
        turn = torch.linalg.qr(torch.randn(DIM, DIM)).Q
        inward, x = torch.randn(DIM, DIM) / DIM**0.5, torch.randn(7, DIM)
    state, of_first = torch.zeros(DIM), inward
    for step, token in enumerate(x):
        state = 0.8 * turn @ state + inward @ token
        state = state.tanh() if activation == "tanh" else state
        slope = 1 - state.square() if activation == "tanh" else torch.ones(DIM)
        of_first = slope[:, None] * (0.8 * turn @ of_first if step else inward)
        found = recurrence(7, 0.8, activation)[step, 0]
        torch.testing.assert_close(found, of_first.norm())
    far = recurrence(64, 0.5, "none")[-1]  # not rounded to nothing
    assert (far[0] / far[-1]).item() == pytest.approx(0.5**63, rel=1e-5)


def test_weights_of_patches_take_as_much_memory_as_torch() -> None:
    rows = board("vision", "pixels")["An image in patches"]
    sizes = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
    for tokens, weights, memory in rows.values():
        count = int(tokens.replace(",", ""))
        held = torch.empty(count, count, device="meta")
        size, unit = memory.split()
        assert int(weights.replace(",", "")) == held.numel()
        assert float(size) * sizes[unit] == pytest.approx(4 * held.numel(), rel=5e-3)

"""Edits and gradients through the second door, against attention written out."""

from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from models.edits import Ablate, Cut, Temperature
from models.run import Trace, trace
from tests.models.architectures import ARCHITECTURES, GROUPED
from tests.models.library import eager, written
from tests.models.pretrained.tiny import build, ids, padded

EXACT = 1e-5  # float32 through two layers whose scores reach 50
BY_NAME = {architecture.name: architecture for architecture in ARCHITECTURES}


@cache
def model(name: str) -> Any:
    return BY_NAME[name].build()


def inputs(name: str) -> dict[str, Tensor]:
    """Without padding: what an edit does to it has a test of its own."""
    given = BY_NAME[name].inputs()
    given.pop("attention_mask", None)
    return given


def call_of(found: Trace, layer: int, kind: str) -> int:
    return next(i for i, s in enumerate(found.sites) if (s.layer, s.kind) == (layer, kind))


def test_an_edit_of_windows() -> None:
    """Swin: heads by their number, tokens by their place in the image, not in their window."""
    given = inputs("Swin")

    def hot(call: int, scores: Tensor) -> Tensor:
        return torch.cat([scores[:, :1], scores[:, 1:] / 0.3], 1) if call == 1 else scores

    def cut(call: int, scores: Tensor) -> Tensor:
        if call == 0:  # tokens (0, 5) and (1, 6) of 12 × 12: slots 1 and 6 of the second window
            scores = scores.clone()
            scores[1::9, 1, 1, 6] = -torch.inf
        return scores

    for edit, change in ((Temperature(0.3, 1, 1), hot), (Cut(0, 1, 5, 18), cut)):
        found = trace(model("Swin"), given, edits=[edit])
        with torch.no_grad():
            expected = written(model("Swin"), given, scores=change).output.last_hidden_state
        assert (found.output.values - expected).abs().max() < EXACT
        plain = trace(model("Swin"), given).output.values
        assert (found.output.values - plain).abs().max() > 1e-3


def test_gradients_of_windows() -> None:
    """Each block keeps its own cells: the sums over all of them are the library's."""
    given = inputs("Swin")
    expected = eager(model("Swin"), given)
    gradients = torch.autograd.grad(expected.output[0].square().sum(), expected.weights)
    found = trace(model("Swin"), given, gradient=lambda out: out.values.square().sum())
    for site, theirs in zip(found.sites, gradients, strict=True):
        mine, weights = (f() for f in (found.pattern(site).gradient, found.pattern(site).weights))
        sums = (
            float((mine * weights).sum()),
            float((theirs * expected.weights[site.layer]).sum().detach()),
        )
        assert sums[0] == pytest.approx(sums[1], rel=1e-3, abs=1e-2)


# --- beside padding -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["BART", "T5"])
@pytest.mark.parametrize("how", ["mean", "shuffled"])
def test_padding_of_the_source_is_none_of_the_target(name: str, how: Any) -> None:
    """Equal lengths: the queries of cross-attention are the target's tokens, all of them."""
    given = padded(2, 11, 4, left=False)
    given["decoder_input_ids"] = ids(2, 11, seed=11)
    edits = [Ablate(1, 0, how, "cross")]
    found = trace(model(name), given, edits=edits).output.values

    def change(call: int, values: Tensor) -> Tensor:
        if call != call_of(plain, 1, "cross"):
            return values
        values = values.clone()
        for item in range(2):
            mine = values[item, 0]
            dice = torch.Generator().manual_seed(item)
            order = torch.randperm(len(mine), generator=dice)
            values[item, 0] = mine.mean(0) if how == "mean" else mine[order]
        return values

    plain = trace(model(name), given)
    with torch.no_grad():
        expected = written(model(name), given, values=change).output[0]
    largest = float(expected.abs().max())
    assert (found - expected).abs().max() < EXACT * max(1.0, largest)


@pytest.mark.parametrize(
    "edit",
    [Ablate(0, 0, "mean"), Ablate(0, 0, "shuffled", seed=1), Cut(0, 1, 5, 3)],
    ids=["mean", "shuffled", "cut"],
)
def test_an_item_is_edited_as_it_is_alone(edit: Any) -> None:
    """In chunks, which count the padding in front: here it is behind."""
    network, given = llama4(), padded(2, 11, 4, left=False)
    given = {each: value.flip(0) for each, value in given.items()}  # item 0: seeds are its own
    alone = {"input_ids": given["input_ids"][:1, :7]}
    together, expected = trace(network, given, edits=[edit]), trace(network, alone, edits=[edit])
    assert (together.output.values[0, :7] - expected.output.values[0]).abs().max() < 1e-4
    for site in expected.sites:
        mine = together.weights(site.layer, item=0)
        assert (mine - expected.weights(site.layer)).abs().max() < EXACT


def llama4() -> Any:
    sizes = {**GROUPED, "head_dim": 8, "attention_chunk_size": 5, "intermediate_size_mlp": 40}
    sizes |= {"num_local_experts": 2, "attn_temperature_tuning": False, "no_rope_layers": [1, 1]}
    return build("Llama4ForCausalLM", "Llama4TextConfig", sizes)


@pytest.mark.parametrize("name", ["BART", "T5"])
def test_a_padded_target(name: str) -> None:
    """The mean of a shorter target is over its own tokens."""
    target = padded(2, 9, 3, left=False)
    given = {"input_ids": ids(2, 11), "decoder_input_ids": target["input_ids"]}
    given["decoder_attention_mask"] = target["attention_mask"]
    alone = {each: value[1:] for each, value in given.items()}
    alone["decoder_input_ids"] = alone["decoder_input_ids"][:, :6]
    del alone["decoder_attention_mask"]
    for kind in ("causal", "cross"):
        edits = [Ablate(0, 0, "mean", kind)]
        together = trace(model(name), given, edits=edits).output.values[1, :6]
        expected = trace(model(name), alone, edits=edits).output.values[0]
        assert (together - expected).abs().max() < 1e-4


def test_positions_are_the_item_s_own() -> None:
    """With four tokens of padding in front, query 6 is the item's seventh token."""
    given = padded(2, 11, 4, left=True)
    found = trace(model("Llama"), given, edits=[Cut(0, 0, 6, 5)])
    for item in range(2):
        weights = found.weights(0, 0, item=item)
        zero = (weights.tril() == 0) & torch.ones_like(weights).tril().bool()
        assert zero.nonzero().tolist() == [[6, 5]]


def test_an_edit_of_one_tower() -> None:
    given = BY_NAME["SigLIP"].inputs()
    plain = trace(model("SigLIP"), given)
    found = trace(model("SigLIP"), given, edits=[Ablate(0, 1, tower="vision")])
    assert found.weights(1, tower="text").equal(plain.weights(1, tower="text"))
    assert not found.weights(1, tower="vision").allclose(plain.weights(1, tower="vision"))
    path = str(plain.site(0, tower="text").module)
    found = trace(model("SigLIP"), given, edits=[Cut(None, 1, 2, 0, module=path)])
    assert found.weights(0, 1, tower="text")[2, 0] == 0
    assert (found.weights(1, 1, tower="text") > 0).all()
    assert found.weights(0, 1, tower="vision")[2, 0] > 0
    found = trace(model("SigLIP"), given, edits=[Cut(0, 1, 2, 0, module="vision_model")])
    assert found.weights(0, 1, tower="vision")[2, 0] == 0
    with pytest.raises(
        ValueError, match=r"tower: layer 0 has \['vision', 'text'\], received 'audio'"
    ):
        trace(model("SigLIP"), given, edits=[Ablate(0, 1, tower="audio")])

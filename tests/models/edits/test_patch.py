"""Activations of another pass and MLPs: batches, order, concurrent passes, text, and messages.

What each does to a pass, in every network, is in tests/test_edits_everywhere.py.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from torch import Tensor

from analysis.rollout import rollout
from models.edits import Ablate, AblateMLP, Patch
from models.edits.text import format_edits, parse_edits
from models.run import trace
from tests.models.tiny_models import model, near, plain, source, theirs

ENCODER, DECODER = ((model(name), *source(name)) for name in ("encoder", "decoder"))


def library(name: str) -> Tensor:
    """The library's own output, whatever hooks there are."""
    network: Any = model(name).network
    with torch.no_grad():
        return network(**source(name)[0])[0]


def hooks(name: str) -> int:
    """Number of hooks of a model; the library has some of its own."""
    every = [*model(name).network.modules()]
    return sum(len(each._forward_hooks) + len(each._forward_pre_hooks) for each in every)


@pytest.mark.parametrize("name", ["BERT", "Llama", "GPT-2"])
def test_a_concurrent_trace_of_the_same_model_is_not_edited(name: str) -> None:
    """Another thread traces, and the library runs, before each layer of an edited pass."""
    seen: list[tuple[Tensor, Tensor]] = []

    def meanwhile(done: int, count: int) -> None:
        with ThreadPoolExecutor(1) as pool:
            one = pool.submit(lambda: trace(model(name), *source(name)).output.values)
            two = pool.submit(library, name)
            seen.append((one.result(), two.result()))

    edits: list[Any] = [Patch(1, "hidden", theirs(name)), AblateMLP(1), Ablate(0, 1)]
    untouched, before = library(name), hooks(name)
    found = trace(model(name), *source(name), edits=edits, progress=meanwhile)
    assert len(seen) > 1
    for traced, ran in seen:
        assert traced.equal(plain(name).output.values)
        assert near(ran, untouched)
    assert found.output.values.equal(trace(model(name), *source(name), edits=edits).output.values)
    assert library(name).equal(untouched)
    assert hooks(name) == before


def test_a_block_that_runs_repeatedly() -> None:
    """ALBERT: its blocks are one module, which is edited in one of its runs."""
    name = "ALBERT"
    group = model(name).network.encoder.albert_layer_groups[0].albert_layers[0]
    runs = 0

    def instead(module: Any, args: Any, out: Tensor) -> Any:
        nonlocal runs
        runs += 1
        return torch.zeros_like(out) if runs == 2 else None

    hook = group.ffn_output.register_forward_hook(instead)
    expected = library(name)
    hook.remove()
    assert runs == 2
    assert near(trace(model(name), *source(name), edits=[AblateMLP(1)]).output.values, expected)
    edits = [Patch(1, "hidden", theirs(name))]
    found = trace(model(name), *source(name), edits=edits, hidden=True)
    assert found.hidden(1).equal(theirs(name).hidden(1))
    assert found.hidden(0).equal(plain(name).hidden(0))
    assert near(found.output.values, theirs(name).output.values)
    with pytest.raises(ValueError, match="did not run for layer 2"):
        trace(model(name), *source(name), edits=[AblateMLP(2)])


def test_hooks_go_when_a_pass_fails() -> None:
    class Broken:
        acts_on = "mlp"

        def edit_mlp(self, added: Tensor, padding: Any) -> Tensor:
            raise ArithmeticError("on purpose")

    with pytest.raises(ArithmeticError, match="on purpose"):
        trace(model("Llama"), *source("Llama"), edits=[Broken()])
    assert library("Llama").equal(library("Llama"))
    assert near(library("Llama"), plain("Llama").output.values)


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("Llama", lambda t: AblateMLP(2), "layer: expected 0 to 1, received 2"),
        ("Llama", lambda t: AblateMLP(0, tower="encoder"), "tower"),
        ("BERT", lambda t: AblateMLP(0, module="decoder"), "module"),
        ("Swin", lambda t: Patch(1, "hidden", t), "expected hidden states that leave 4 blocks"),
    ],
)
def test_refused_by_name(name: str, edit: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trace(model(name), *source(name), edits=[edit(theirs(name))])


def test_later_questions_are_of_the_edited_pass() -> None:
    """Further passes, for the stream and for what is made from it, are edited as well."""
    edits: list[Any] = [AblateMLP(0), Patch(0, "hidden", theirs("Llama"), 3)]
    found = trace(model("Llama"), *source("Llama"), edits=edits, hidden=True)
    stream = found.stream(1, [0, 3, 5])
    torch.testing.assert_close(stream.state, found.hidden(1)[[0, 3, 5]])
    parts = stream.parts()
    assert "layer 0, MLP" not in parts or parts["layer 0, MLP"].abs().max() < 1e-5


def test_whole_model_numbers_say_that_values_are_of_another_input() -> None:
    edits = [Patch(1, "head", theirs("encoder"), 3, head=1)]
    found = trace(*ENCODER, edits=edits, hidden=True)
    with pytest.raises(ValueError, match="changes values: they are those of another input"):
        rollout(found)
    assert found.effective_weights(found.sites[1], 0).equal(found.weights(1, 0))


@pytest.mark.parametrize(
    ("name", "make", "message"),
    [
        ("encoder", lambda t: Patch(None, "hidden", t), "hidden: expected a layer, and a tower"),
        ("encoder", lambda t: Patch(9, "hidden", t), "source: layer: expected 0 to 3, received 9"),
        ("encoder", lambda t: Patch(1, "hidden", t, head=1), "head: a hidden state has none"),
        ("encoder", lambda t: Patch(1, "q", t, (1, 2), (3,)), "expected 2 tokens, received 1"),
        ("encoder", lambda t: Patch(1, "q", t, None, 3), "source_token: expected one with a token"),
        ("encoder–decoder", lambda t: Patch(1, "hidden", t), "source: tower: expected one of"),
    ],
)
def test_patches_that_are_none(name: str, make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(theirs(name))


def test_a_patch_that_does_not_fit() -> None:
    encoder, rows, _ = ENCODER
    short, there = trace(encoder, rows[:1, :4], hidden=True), theirs("encoder")
    with pytest.raises(ValueError, match="source: no hidden states recorded"):
        Patch(1, "hidden", trace(*ENCODER))
    for edit, message in (
        (Patch(1, "hidden", short), "expected a source of 7 tokens, received 4: choose a token"),
        (Patch(1, "q", short, 5), "source_token: expected 0 to 3, received 5"),
        (Patch(1, "q", there, 9, 1), "token: expected 0 to 6, received 9"),
        (Patch(1, "k", there, 1, head=3), "head: expected 0 to 2, received 3"),
        (Patch(1, "k", theirs("decoder, grouped"), 1), "source"),
        (Patch(3, "q", there, 1), "layer: expected 0 to 2, received 3"),
        (AblateMLP(3), "layer: expected 0 to 2, received 3"),
    ):
        with pytest.raises(ValueError, match=message):
            trace(*ENCODER, edits=[edit])
    with pytest.raises(ValueError, match="expected a source of 3 items, received 2"):
        trace(encoder, rows[[0, 1, 0]], edits=[Patch(1, "q", there, 1)])
    with pytest.raises(ValueError, match="this network has no feed-forward network"):
        trace(model("layer"), *source("layer"), edits=[AblateMLP(0)])


def test_a_patch_is_written_by_the_name_of_its_source() -> None:
    there = theirs("encoder")
    edits = (Patch(1, "hidden", there, 3, 4), Patch(0, "k", there, (1, 2), head=0), AblateMLP(2))
    text = format_edits(edits, {"other": there})
    assert text == (
        "Patch(1, 'hidden', 'other', token=3, source_token=4),"
        " Patch(0, 'k', 'other', token=(1, 2), head=0), AblateMLP(2)"
    )
    assert parse_edits(text, {"other": there}) == edits
    assert [edit.describe() for edit in edits] == [
        "Hidden state 1: token 3 gets that of token 4 of another input.",
        "Layer 0, key head 0: keys of tokens 1 and 2 become those of tokens 1 and 2 of another"
        " input.",
        "Layer 2: the MLP adds nothing, which the model never saw; the average is gentler.",
    ]
    with pytest.raises(ValueError, match="its source has no name that can be written"):
        format_edits(edits)
    with pytest.raises(ValueError, match="source: expected other, received 'x'"):
        parse_edits("Patch(1, 'q', 'x')", {"other": there})
    assert len({*edits}) == 3

"""Each edit of attention in transformers models, against their attention written out."""

from typing import Any

import pytest
import torch
from torch import Tensor

from models.edits import Ablate, UsePattern
from models.run import Trace, trace
from tests.models.edits.architectures import NAMES, WHERE, inputs, model, plain
from tests.models.edits.plain import CASES, HEADS, LAYER, Case, whole_row
from tests.models.library import written
from tests.models.pretrained.tiny import padded
from tests.turns import by_turns

EXACT = 1e-5  # float32 through two layers whose scores reach 50
EVERY = pytest.mark.parametrize(("name", "kind"), WHERE)
ALONE = ("zero", "mean", "token", "layer", "temperature", "cut", "hidden key")


def agree(name: str, kind: str, case: Case) -> Trace:
    """The edited trace is the pass written out with the same change in one call."""
    given, before = inputs(name), plain(name)
    found = trace(model(name), given, edits=[case.make(LAYER, kind)])
    call = before.sites.index(before.site(LAYER, kind))
    changes = {
        where: lambda index, x, do=do: do(x.clone()) if index == call else x
        for where, do in case.changes.items()
    }
    with torch.no_grad():
        expected = written(model(name), given, **changes)
    for mine, theirs in zip(found.sites, expected.weights, strict=True):
        for item in range(2):
            assert (found.weights(mine, item=item) - theirs[item]).abs().max() < EXACT
    first = expected.output[0]
    largest = float(first.abs().max())
    assert (found.output.values - first).abs().max() < EXACT * max(1.0, largest)
    assert (found.output.values - before.output.values).abs().max() > 1e-3, "nothing changed"
    return found


@pytest.mark.parametrize(("name", "kind", "edit"), by_turns(WHERE, CASES, 3))
def test_an_edit_is_its_change_of_matrices(name: str, kind: str, edit: str) -> None:
    case = CASES[edit]
    if case.square and kind == "cross":
        with pytest.raises(ValueError, match="expected queries that are keys as well"):
            trace(model(name), inputs(name), edits=[case.make(LAYER, kind)])
        return
    found = agree(name, kind, case)
    site = found.site(LAYER, kind)
    if edit in ALONE:
        assert found.pattern(site).path == plain(name).pattern(LAYER, kind=kind).path
    if edit == "cut":
        assert not found.weights(site)[[*HEADS]][:, 4:6, 2].any()
    if "as they are" not in edit and name != "GPT-OSS":  # whose sink keeps its share
        sums = found.weights(site).sum(-1)
        torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=1e-5)


@EVERY
def test_a_whole_row(name: str, kind: str) -> None:
    agree(name, kind, whole_row(plain(name).site(LAYER, kind).keys))


# not padded in front: BERT, whose positions count the padding
PADDED = [("BERT", False), ("Llama", False), ("GPT-OSS", False), ("Llama", True), ("Mistral", True)]


@pytest.mark.parametrize(("name", "left", "edit"), by_turns(PADDED, [*CASES, "noise"], 3))
def test_an_item_is_edited_as_it_is_alone(name: str, left: bool, edit: str) -> None:
    kind = "self" if name == "BERT" else "causal"
    made = Ablate(1, HEADS, "noise") if edit == "noise" else CASES[edit].make(1, kind)
    given = padded(2, 11, 4, left=left)
    own = given["attention_mask"][-1].bool()
    given = {each: value.flip(0) for each, value in given.items()}  # item 0: seeds are its own
    alone = {"input_ids": given["input_ids"][:1, own]}
    together = trace(model(name), given, edits=[made])
    expected = trace(model(name), alone, edits=[made])
    off = (together.output.values[0, own] - expected.output.values[0]).abs().max()
    assert off < 1e-4
    for site in expected.sites:
        mine = together.weights(site.layer, item=0)
        assert (mine - expected.weights(site.layer)).abs().max() < EXACT


def test_windows_of_an_image() -> None:
    """Swin: patterns of the image's own tokens; what a window does not reach is not seen."""
    network = model("Swin")
    given = inputs("Swin")
    uniform = trace(network, given, edits=[UsePattern(0, 1, "uniform")])
    seen = plain("Swin").weights(0, 1) > 0
    expected = seen / seen.sum(-1, keepdim=True)
    torch.testing.assert_close(uniform.weights(0, 1), expected, rtol=0, atol=1e-6)
    shift = trace(network, given, edits=[UsePattern(0, 1, "shift", 4)]).weights(0, 1)
    assert shift[5].argmax() == 5  # the token 4 before it is in another window
    assert float(shift.sum()) == len(shift)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_behind(name: str) -> None:
    """The next trace, and the library's own model, are what they were before."""
    before: list[Tensor] = []
    kind = dict(WHERE)[name]
    edits: list[Any] = [case.make(LAYER, kind) for case in CASES.values() if not case.square]
    for given in ((), edits, ()):
        traced = trace(model(name), inputs(name), edits=given).output.values
        with torch.no_grad():
            own = model(name)(**inputs(name))[0]
        before += [traced, own]
    assert before[0].equal(before[4])
    assert before[1].equal(before[3])
    assert before[1].equal(before[5])
    assert not before[0].equal(before[2])

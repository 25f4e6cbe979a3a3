"""Which heads an output needs: the answers against sweeps."""

import numpy as np

from analysis.effects import Logit
from analysis.sweep import checked_sweep
from models.edits import Ablate
from models.request import Picture, TraceRequest
from models.run import load
from tests.viz.api.asking import ask
from tests.viz.api.catalogue import TEXT, entry_of
from viz.api import samples, tracing
from viz.api.entries import TraceEntry


def test_heads_are_ranked_by_attribution_then_switched_off_one_by_one() -> None:
    entry, model = entry_of(), load("grammar-next")
    rough = ask(entry, "matters", 0, "")
    exact = ask(entry, "matters", 0, "", top=4)
    assert rough["attribution"] == exact["attribution"]
    assert rough["exact"] is None
    measure = Logit(int(entry.trace.output.values[0, -1].argmax()))
    swept = checked_sweep(model, TEXT, edit=Ablate, measure=measure, top=4)
    for name, expected in (("attribution", swept.attribution), ("exact", swept.exact)):
        found = np.array(exact[name], float)  # None is no number
        np.testing.assert_allclose(found, expected.numpy(), atol=1e-4)


def test_the_kind_of_the_chosen_layer_is_swept() -> None:
    entry = entry_of("reverse", "a b c")
    kinds = {site.kind for site in entry.trace.sites}
    for kind in kinds:
        site = next(n for n, each in enumerate(entry.trace.sites) if each.kind == kind)
        answer = ask(entry, "matters", site, off="mean")
        assert {entry.trace.sites[each].kind for each in answer["sites"]} == {kind}


def test_a_sweep_is_of_the_pass_without_edits() -> None:
    edited = ask(entry_of(edits=(Ablate(0, 0),)), "matters", 0, top=2)
    assert edited == ask(entry_of(), "matters", 0, top=2)


def with_photo(name: str) -> TraceEntry:
    """A network's trace of a picture of its own, or of a photo."""
    file = samples.file(next(iter(samples.samples(name) or samples.PHOTOS)))
    return tracing.entry_for(TraceRequest(tracing.of_catalogue(name), Picture(file))).value


def test_without_logits_a_sweep_tells_how_far_the_embedding_moves() -> None:
    minilm, digits = entry_of("minilm"), with_photo("digits")
    assert "parts" not in ask(minilm, "refused")
    for entry, number, name in ((minilm, "distance", "tokens"), (digits, "logit", "3")):
        answer = ask(entry, "matters", 0, top=3)
        assert (answer["number"], answer["name"]) == (number, name)
        exact = [value for row in answer["exact"] for value in row if value is not None]
        assert len(exact) == (72 if number == "distance" else 3)

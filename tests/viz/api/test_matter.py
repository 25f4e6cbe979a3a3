"""Which heads an output needs: the answers against passes with one head off."""

import pytest

from models.edits import Ablate
from models.request import TraceRequest
from models.run import load, trace
from viz.api import matter, tracing
from viz.api.requests import QuestionError

TEXT = "the cat saw the dog"


def entry_of(name="grammar-next", text=TEXT, edits=(), target=None):
    request = TraceRequest(tracing.of_catalogue(name), text, target, edits=edits)
    return tracing.entry_for(request).value


def test_heads_are_ranked_by_attribution_then_switched_off_one_by_one() -> None:
    entry, model = entry_of(), load("grammar-next")
    rough = matter.matters(entry, "", 0, "")
    exact = matter.matters(entry, "", 0, "", top=4)
    assert rough["attribution"] == exact["attribution"]
    assert rough["exact"] is None
    plain = entry.trace.output.values[0, -1]
    id = int(plain.argmax())
    heads = [
        (place, head, abs(value))
        for place, row in enumerate(rough["attribution"])
        for head, value in enumerate(row)
    ]
    most = {(place, head) for place, head, _ in sorted(heads, key=lambda each: -each[2])[:4]}
    for place, site in enumerate(exact["sites"]):
        for head, value in enumerate(exact["exact"][place]):
            assert (value is not None) == ((place, head) in most)
            if value is None:
                continue
            layer = entry.trace.sites[site].layer
            off = trace(model, TEXT, edits=[Ablate(layer, head)]).output.values[0, -1]
            assert value == pytest.approx(float(off[id] - plain[id]), abs=1e-4)


def test_the_kind_of_the_chosen_layer_is_swept() -> None:
    entry = entry_of("reverse", "a b c")
    kinds = {site.kind for site in entry.trace.sites}
    for kind in kinds:
        site = next(n for n, each in enumerate(entry.trace.sites) if each.kind == kind)
        answer = matter.matters(entry, "", site, off="mean")
        assert {entry.trace.sites[each].kind for each in answer["sites"]} == {kind}


def test_a_sweep_of_an_edited_pass_or_of_too_many_heads_is_refused() -> None:
    assert "Before" in matter.matters(entry_of(edits=(Ablate(0, 0),)), "", 0)["why"]
    with pytest.raises(QuestionError, match="64"):
        matter.matters(entry_of(), "", 0, top=65)

"""Which heads an output needs: the answers against passes with one head off."""

import pytest
import torch

from models.edits import Ablate
from models.request import Picture, TraceRequest
from models.run import load, trace
from tests.fetched import fetched
from viz.api import matter, samples, tracing, why
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


def test_a_sweep_is_of_the_pass_without_edits() -> None:
    edited = matter.matters(entry_of(edits=(Ablate(0, 0),)), "", 0, top=2)
    assert edited == matter.matters(entry_of(), "", 0, top=2)


def test_all_heads_of_a_layer_are_switched_off_in_passes_of_their_own() -> None:
    entry, model = entry_of(), load("grammar-next")
    answer = matter.matters_in_layer(entry, "", 1, "", "mean")
    plain = entry.trace.output.values[0, -1]
    id, layer = int(plain.argmax()), entry.trace.sites[1].layer
    for head, value in enumerate(answer["exact"]):
        off = trace(model, TEXT, edits=[Ablate(layer, head, "mean")]).output.values[0, -1]
        assert value == pytest.approx(float(off[id] - plain[id]), abs=1e-4)
    assert len(answer["exact"]) == entry.trace.sites[1].heads


def picture(name: str):
    file = samples.file(next(iter(samples.samples(name) or samples.PHOTOS)))
    source = tracing.of_catalogue(name)
    request = TraceRequest(source, Picture(file))
    return tracing.entry_for(request).value, tracing.arguments(request)


def test_the_heads_of_a_picture_and_its_class() -> None:
    entry, (model, pixels, _) = picture("digits")
    answer = matter.matters(entry, "", 0, top=3)
    assert answer["number"] == "logit"
    plain = entry.trace.output.values[0]
    id = int(plain.argmax())
    effects = [
        (layer, head, value)
        for layer, row in enumerate(answer["exact"])
        for head, value in enumerate(row)
        if value is not None
    ]
    assert len(effects) == 3
    for layer, head, value in effects:
        off = trace(model, pixels, edits=[Ablate(layer, head)]).output.values[0]
        assert value == pytest.approx(float(off[id] - plain[id]), abs=1e-3)


@pytest.mark.long
def test_the_heads_of_a_picture_without_classes_move_its_class_token() -> None:
    fetched("dinov2")
    entry, (model, pixels, _) = picture("dinov2")
    answer = matter.matters(entry, "", 0, top=2)
    assert (answer["number"], answer["name"]) == ("distance", "class token")
    plain = entry.trace.output.values[0, 0]
    for layer, row in enumerate(answer["exact"]):
        for head, value in enumerate(row):
            if value is None:
                continue
            off = trace(model, pixels, edits=[Ablate(layer, head)]).output.values[0, 0]
            cosine = float(torch.cosine_similarity(off.double(), plain.double(), dim=0))
            assert value == pytest.approx(1 - cosine, rel=1e-3)


def test_the_heads_of_a_text_without_logits_move_its_embedding() -> None:
    entry, model = entry_of("minilm"), load("minilm")
    assert "parts" not in why.refused(entry, "")
    answer = matter.matters(entry, "", 0, top=3)
    assert (answer["number"], answer["name"]) == ("distance", "tokens")
    plain = entry.trace.output.values[0].mean(0).double()
    effects = [
        (layer, head, value)
        for layer, row in enumerate(answer["exact"])
        for head, value in enumerate(row)
        if value is not None
    ]
    assert len(effects) == 3
    for layer, head, value in effects:
        off = trace(model, TEXT, edits=[Ablate(layer, head)]).output.values[0].mean(0).double()
        cosine = float(torch.cosine_similarity(off, plain, dim=0))
        assert value == pytest.approx(1 - cosine, rel=1e-3)


def test_a_sweep_of_too_many_heads_is_refused() -> None:
    with pytest.raises(QuestionError, match="64"):
        matter.matters(entry_of(), "", 0, top=65)

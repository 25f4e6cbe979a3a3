"""The code that reproduces a view: what it imports, and what it prints."""

from dataclasses import replace
from typing import Any

import pytest

from models.card import card
from models.catalogue import entry as catalogue_entry
from models.edits import Ablate, Patch
from models.request import Ids, Picture, Source, TraceRequest, file_of
from tests.shown_code import beside_the_facade
from tests.viz.api.asking import ask
from tests.viz.pages.explore.explorer import result_of
from viz.api import snippet, tracing
from viz.api.entries import TraceEntry
from viz.api.predictions import predictions
from viz.api.samples import PHOTOS
from viz.export import responses

TEXT = "the cat saw the dog"


def request_of(name: str, given: Any = TEXT, **more: Any) -> TraceRequest:
    return TraceRequest(tracing.of_catalogue(name), given, **more)


def script(entry: TraceEntry, **place: Any) -> str:
    """The code of a head and of the prediction beside it."""
    answer = predictions(entry, 0, place.get("direction", "out"), place.get("token"))
    return snippet.code(entry, 0, 0, answer)


def on_screen(entry: TraceEntry, **place: Any) -> list[str]:
    """The prediction that the page shows, as lines."""
    answer = ask(entry, "predictions", 0, **{"direction": "out", **place})
    if change := answer.get("change"):
        each = zip(change["labels"], change["before"], change["after"], strict=True)
        lines = [f"{name} {before:.4f} → {after:.4f}" for name, before, after in each]
        return [*lines, f"KL {change['kl']:.4f} nats"]
    each = zip(answer.get("labels", []), answer.get("probabilities", []), strict=True)
    return [f"{name} {share:.4f}" for name, share in each]


PHOTO = Picture(file_of(PHOTOS["flower"].read_bytes(), str(PHOTOS["flower"])))
DATE = "3 Aug 2019"
CASES = {
    "encoder with a mask": (request_of("grammar", "the old [MASK] sees a cat"), {}),
    "encoder, edited": (request_of("grammar", TEXT, edits=(Ablate(1, 0),)), {}),
    "decoder": (request_of("grammar-next"), {}),
    "decoder, at a token": (request_of("grammar-next"), {"token": 2}),
    "decoder, at a key": (request_of("grammar-next"), {"direction": "in", "token": 1}),
    "decoder, edited": (request_of("grammar-next", edits=(Ablate(1, 0),)), {}),
    "encoder–decoder": (request_of("dates", DATE), {}),
    "encoder–decoder, edited": (request_of("dates", DATE, edits=(Ablate(0, 0, kind="cross"),)), {}),
    "classes": (request_of("digits", PHOTO), {}),
    "classes, edited": (request_of("digits", PHOTO, edits=(Ablate(0, 0),)), {}),
}


CODE = {name: asked for name, (asked, _) in CASES.items()} | {
    "untrained": TraceRequest(Source("catalogue", "grammar", trained=False), TEXT),
    "built": TraceRequest(Source("built", "decoder", (("depth", 1), ("vocab", 31))), TEXT),
    "ids": request_of("grammar-next", Ids((3, 4, 5))),
    "other preprocessing": request_of("digits", replace(PHOTO, changes=(("size", 64),))),
    "distance": request_of("minilm", TEXT, edits=(Ablate(5, 11),)),
    "another pass": request_of(
        "grammar-next", edits=(Patch(1, "head", request_of("grammar-next", "the dog ran"), 0),)
    ),
}


@pytest.mark.parametrize("asked", CODE.values(), ids=CODE)
def test_the_code_of_every_input_uses_the_facade_alone(asked: TraceRequest) -> None:
    entry = tracing.entry_for(asked).value
    form = "image" if entry.patches else "matrix"
    assert beside_the_facade(responses.python(entry, 0, 0, form).code) == []


@pytest.mark.parametrize(("request_", "place"), CASES.values(), ids=CASES)
def test_the_code_prints_the_prediction_on_screen(
    request_: TraceRequest, place: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    prints_what_is_shown(request_, place, capsys)


@pytest.mark.parametrize("edited", [(), (Ablate(0, 0),)], ids=["plain", "edited"])
def test_the_code_prints_the_answer_to_each_question(
    edited: tuple[Any, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    entry = tracing.entry_for(request_of("shapes", PHOTO, edits=edited)).value
    weights = result_of(script(entry))
    printed = capsys.readouterr().out.removesuffix(f"{weights}\n").splitlines()
    logits = iter(entry.trace.output.values[0].exp().tolist())
    about = card(catalogue_entry("shapes"))
    assert about
    for line, question in zip(printed, about.questions, strict=True):
        shares = [next(logits) for _ in question.classes]
        named = zip(question.classes, shares, strict=True)
        assert line == " · ".join(f"{name} {share / sum(shares):.4f}" for name, share in named)


def prints_what_is_shown(
    asked: TraceRequest, place: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    entry = tracing.entry_for(asked).value
    shown = on_screen(entry, **place)
    weights = result_of(script(entry, **place))
    printed = capsys.readouterr().out
    assert weights.equal(entry.trace.weights(entry.trace.sites[0])[0])
    assert shown
    assert sorted(printed.removesuffix(f"{weights}\n").splitlines()) == sorted(shown)

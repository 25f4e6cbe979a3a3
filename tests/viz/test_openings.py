"""Every form of every kind of model: its first opening shows something, and its code prints that.

What a form needs that a model does not have is refused, so that the form is not offered.
"""

import io
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.catalogue import entry as catalogued
from models.catalogue import is_here
from models.request import Picture, TraceRequest, file_of
from tests.shown_code import beside_the_facade
from tests.viz.api.asking import ask
from viz.api import tracing
from viz.api.entries import TraceEntry
from viz.api.samples import PHOTOS
from viz.export import responses
from viz.views import FORM, VIEWS
from viz.views.head.view import opening

TEXT = "the cat saw the dog"
PHOTO = Picture(file_of(PHOTOS["flower"].read_bytes(), str(PHOTOS["flower"])))
GIVEN: dict[str, Any] = {
    "grammar": TEXT,
    "grammar-next": TEXT,
    "dates": "3 Aug 2019",
    "digits": PHOTO,
    "minilm": TEXT,
    "smollm2": TEXT,
    "dinov2": PHOTO,
}
SMALL = ("grammar", "grammar-next", "dates", "digits")


@cache
def opened(name: str) -> tuple[TraceEntry, dict[str, Any]]:
    """The result of a model's input, and the layer, head and token that are shown first."""
    held = tracing.entry_for(TraceRequest(tracing.of_catalogue(name), GIVEN[name]))
    chosen = tracing.worth(held)
    place = {"site": 0, "head": 0}
    if chosen is not None:
        place = {"site": held.value.trace.sites.index(chosen.site), "head": chosen.head}
        place["token"] = chosen.query[-1]
    return held.value, place


def cases(names: tuple[str, ...], every: bool) -> list[Any]:
    """A model and a form: each that applies to it, or those that are on the screen."""
    return [
        pytest.param(name, form.name, id=f"{name}-{form.name}")
        for name in names
        if is_here(catalogued(name))  # some are fetched by the app
        for form in FORM.values()
        if (form.pictured if isinstance(GIVEN[name], Picture) else form.texts)
        and (every or form.chooses is None or form.name == "image")
    ]


def place_of(name: str, form: str) -> tuple[TraceEntry, dict[str, Any]]:
    entry, place = opened(name)
    kept = {"site", "head", *(["token"] if "token" in FORM[form].options else [])}
    tested: dict[str, Any] = {"method": "gradient"} if form == "faithfulness" else {}
    if FORM[form].covers == "layers":
        tested["site"] = 0  # all layers of one tower, whatever connects the two
    return entry, {each: value for each, value in place.items() if each in kept} | tested


def is_refused(entry: TraceEntry, form: str) -> bool:
    """Whether the model cannot show a form, which then is not offered; blame says why."""
    if form == "blame":
        return "why" in ask(entry, "blame")
    return entry.kind == "text" and form in ask(entry, "refused")


@pytest.mark.parametrize(("name", "form"), cases(tuple(GIVEN), every=False))
def test_the_first_opening_shows_something_or_is_not_offered(name: str, form: str) -> None:
    entry, place = place_of(name, form)
    if is_refused(entry, form):
        with pytest.raises(ValueError, match=r"\w+"):
            responses.export(entry, **place, form=form, format="npz")
        return
    if form == "parts" and ask(entry, "outputs", 0, "out")["kind"] == "similarity":
        effects = ask(entry, "matters", 0)["attribution"]  # there is no logit: of heads alone
        assert np.ptp(effects) > 0
        return
    file = responses.export(entry, **place, form=form, format="npz").data
    with np.load(io.BytesIO(file)) as held:
        numbers = [held[each] for each in held.files if held[each].dtype.kind == "f"]
    assert any(np.isfinite(each).any() and np.nanstd(each) > 0 for each in numbers if each.size > 1)


@pytest.mark.parametrize(
    "name",
    [name for name, given in GIVEN.items() if given is not PHOTO and is_here(catalogued(name))],
)
def test_query_and_key_open_on_the_strongest_key_beside_the_token_itself(name: str) -> None:
    view = opened(name)[0].view
    for site in view.sites:
        rests = [place for place, special in enumerate(view.keys(site)[0].special) if special]
        for head in range(site.heads):
            query, key = opening(view, site, head, None, None)
            others = view.weights(site, head, rows=[query])[0].clone()
            others[[*rests, *([0, query] if site.kind != "cross" else [])]] = 0
            assert others.max() == 0 or others[key] == others.max()


@pytest.mark.parametrize(("name", "form"), cases(SMALL, every=True))
def test_the_code_of_a_form_prints_and_draws_what_is_seen(
    name: str,
    form: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    entry, place = place_of(name, form)
    if is_refused(entry, form):
        return
    code = responses.python(entry, **place, form=form).code
    assert beside_the_facade(code) == []
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    exec(code, scope)  # the very lines that the page offers
    printed = capsys.readouterr().out
    figure = responses.export(entry, **place, form=form, format="pdf")
    drawn = (tmp_path / figure.name).read_bytes()
    assert drawn == figure.data if entry.kind == "text" else drawn[:5] == b"%PDF-"
    if form == "atlas":
        assert all(str(entry.view.weights(site)) in printed for site in entry.view.sites)
    elif FORM[form].of_weights:
        site = entry.view.sites[place["site"]]
        assert scope["weights"].equal(entry.view.weights(site, place["head"]))
        assert printed.endswith(f"{scope['weights']}\n")
    else:
        table = responses.export(entry, **place, form=form, format="csv").data.decode()
        assert printed.endswith(f"{table}\n")


def test_every_form_is_opened() -> None:
    shown = {each.values[1] for each in cases(SMALL, every=True)}
    assert shown | {"pictures", "sound"} == {*VIEWS}

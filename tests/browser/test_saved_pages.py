"""A saved page of each form holds everything that the form asks for."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from playwright.sync_api import Page, expect

from analysis.methods import BY_NAME
from models.decoder import DecoderConfig
from models.edits import Temperature
from models.request import TraceRequest
from models.run import load, trace
from models.vit import ViTConfig
from viz.api import tracing
from viz.export import export
from viz.export.responses import export as export_of
from viz.views import FORM, FORMS

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]

CHOSEN: list[tuple[str, dict[str, Any]]] = [
    ("matrix", {"values": "scores"}),
    ("matrix", {"sinks": "hidden", "scale": "own"}),
    ("lines", {"token": 3}),
    ("text", {"token": 4, "direction": "in"}),
    ("head", {}),
    ("head", {"query": 5, "key": 2}),
    ("model", {}),
    ("model", {"method": "norms", "query": 3}),
    ("model", {"method": "attnlrp", "output": "3.5", "tested": True}),
    ("faithfulness", {"method": "chefer"}),
]
CHOSEN += [(form.name, {}) for form in FORMS if form.texts and form.name not in dict(CHOSEN)]
PICTURED: list[tuple[str, dict[str, Any]]] = [
    ("image", {"token": 3, "sinks": "hidden", "outliers": True}),
    ("model", {"method": "chefer", "output": "class 2", "tested": True}),
    ("model", {"method": "flow", "followed": "token", "query": 3}),
    ("faithfulness", {"method": "attnlrp", "proof": "insertion"}),
    ("features", {"token": 4}),
]
TEXT = "the cats near the cabinet"
SETTLED = """() => new Promise(
  (done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 200)))
)"""


@cache
def of_text() -> tuple[Any, ...]:
    model = load(DecoderConfig(vocab=31, dim=15, heads=3, depth=2, mlp=7, seed=2))
    given = torch.arange(7)[None]
    return trace(model, given, hidden=True), (model, given)


@cache
def of_picture() -> tuple[Any, ...]:
    model = load(ViTConfig(image=20, patch=4, dim=15, depth=2, heads=3, mlp=7, seed=2))
    picture = Image.effect_noise((20, 20), 90).convert("RGB")
    return trace(model, picture, hidden=True), (model, picture)


@pytest.mark.parametrize(("form", "chosen"), CHOSEN, ids=lambda part: str(part)[:40])
def test_a_page_lacks_nothing_that_its_form_asks_for(
    page: Page, tmp_path: Path, form: str, chosen: dict[str, Any]
) -> None:
    shown, run = of_text()
    place: dict[str, Any] = {} if FORM[form].covers == "every" else {"layer": 1, "head": 2}
    file = export(shown, tmp_path / "page.html", view=form, run=run, **place, **chosen)
    page.goto(file.as_uri())
    if shown_as := FORM.get(FORM[form].opens.get("form", "")):
        expect(page.locator(f".hs-forms > .hs-{shown_as.name}, .hs-figure")).not_to_have_count(0)
    lacks_nothing(page, form, chosen)


@pytest.mark.parametrize(("form", "chosen"), PICTURED, ids=lambda part: str(part)[:40])
def test_a_page_of_a_picture_lacks_nothing(
    page: Page, tmp_path: Path, form: str, chosen: dict[str, Any]
) -> None:
    shown, run = of_picture()
    place = {"layer": 1, "head": 2, "picture": run[1]}
    file = export(shown, tmp_path / "page.html", view=form, run=run, **place, **chosen)
    page.goto(file.as_uri())
    expect(page.locator(".hs-photo").filter(visible=True).first).to_be_visible()
    lacks_nothing(page, form, chosen)


def lacks_nothing(page: Page, form: str, chosen: dict[str, Any]) -> None:
    page.evaluate(SETTLED)
    if form == "model":
        menu = page.get_by_role("combobox", name="Method", exact=True)
        info = BY_NAME[chosen.get("method", "rollout")]
        told = re.compile(f"Formula: {re.escape(info.formula)}.*Source: {re.escape(info.source)}")
        expect(menu).to_have_attribute("title", told)
    expect(page.get_by_text("Not in this file").filter(visible=True)).to_have_count(0)


@pytest.mark.parametrize("form", ["matrix", "lines"])
def test_a_page_of_two_models_lacks_nothing(page: Page, tmp_path: Path, form: str) -> None:
    requests = [
        TraceRequest(tracing.of_catalogue(name), TEXT) for name in ("grammar-next", "minilm")
    ]
    first, second = map(tracing.entry_for, requests)
    beside: dict[str, Any] = {"second": second.id, "second_site": 2, "second_head": 4}
    file = tmp_path / "two.html"
    file.write_bytes(export_of(first.value, 1, 0, form, "html", there="2,4", **beside).data)
    page.goto(file.as_uri())
    other = page.locator(".hs-other .headscope")
    expect(other).to_have_attribute("data-head", "4")
    expect(page.locator(".hs-likeness")).to_contain_text(re.compile(r"heads: 0\.\d\d"))
    page.evaluate(SETTLED)
    expect(page.get_by_text("Not in this file").filter(visible=True)).to_have_count(0)


def test_a_page_of_a_difference_shows_it(page: Page, tmp_path: Path) -> None:
    request = TraceRequest(tracing.of_catalogue("grammar-next"), TEXT, edits=(Temperature(0.2, 1),))
    entry, file = tracing.entry_for(request).value, tmp_path / "difference.html"
    file.write_bytes(export_of(entry, 1, 0, "matrix", "html", values="difference").data)
    page.goto(file.as_uri())
    expect(page.locator(".hs-names")).to_contain_text("after minus before the edits")
    page.locator(".hs-overlay").focus()
    for _ in range(4):
        page.keyboard.press("ArrowDown")  # to the row of “near”
    before = tracing.entry_for(replace(request, edits=())).value
    change = float((entry.view.weights(1, 0) - before.view.weights(1, 0))[3, 0])
    expect(page.locator(".hs-tip b")).to_have_text(f"{change:.5f}")
    expect(page.get_by_text("Not in this file").filter(visible=True)).to_have_count(0)

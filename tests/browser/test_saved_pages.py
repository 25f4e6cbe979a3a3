"""A saved page of each form holds everything that the form asks for."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from playwright.sync_api import Page, expect

from analysis.methods import BY_NAME
from models.decoder import DecoderConfig
from models.run import load, trace
from models.vit import ViTConfig
from viz.export import export
from viz.selection import FORM, TEXTS

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]

CHOSEN: list[tuple[str, dict[str, Any]]] = [
    ("matrix", {"values": "scores"}),
    ("matrix", {"sinks": "renormalised", "scale": "log"}),
    ("lines", {"token": 3}),
    ("text", {"token": 4, "direction": "in"}),
    ("text", {"average": True, "layers": (0, 1)}),
    ("qk", {}),
    ("qk", {"query": 5, "key": 2}),
    ("stages", {}),
    ("model", {"fusion": "max", "discard": 0.25, "beside": "flow", "beside_fusion": "min"}),
    ("model", {"method": "rollout", "beside": "rollout", "beside_discard": 0.5}),
    ("model", {"method": "norms", "beside": "decompx", "query": 3}),
    ("model", {"method": "attnlrp", "beside": "gradient", "output": "3.5", "tested": True}),
    ("faithfulness", {"method": "chefer"}),
    ("scatter", {"plot": ("similarity", "similarity", "entropy")}),
]
CHOSEN += [(form, {}) for form in TEXTS if form not in dict(CHOSEN)]
PICTURED: list[tuple[str, dict[str, Any]]] = [
    ("image", {"token": 3, "sinks": "hidden", "outliers": True}),
    ("model", {"method": "chefer", "beside": "rollout", "output": "class 2", "tested": True}),
    ("model", {"method": "flow", "followed": "token", "query": 3}),
    ("faithfulness", {"method": "attnlrp", "proof": "road"}),
    ("features", {"foreground": "below", "token": 4}),
]
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
        pressed = page.locator(".hs-bar [aria-pressed=true]").filter(has_text=shown_as.label)
        expect(pressed).to_have_count(1)
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

"""The three kinds of attention of an encoder–decoder, and every head by its numbers."""

from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect

from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from tests.browser.explorer_pages import Traced, random_source
from tests.browser.views import open_lab
from viz.api.entries import TraceEntry

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


@pytest.fixture(scope="module")
def pair():
    sizes: dict[str, Any] = {"dim": 21, "heads": 3, "depth": 2, "mlp": 13, "d_k": 7, "d_v": 5}
    model = load(Seq2SeqConfig(source_vocab=53, target_vocab=53, **sizes))
    return trace(model, torch.arange(4, 17)[None], torch.arange(5, 12)[None])


def words(page: Page, name: str) -> Any:
    return page.get_by_role("radiogroup", name=name, exact=True).get_by_role("radio")


def test_another_kind_keeps_the_layer_and_shows_its_texts(explore, pair):
    start = {"layer": 1, "attention": "self", "tower": "encoder", "head": 2, "form": "text"}
    explorer = explore(Traced(TraceEntry(pair)), **start).page
    source, target = pair.labels, pair.query_labels(pair.sites[2])
    kinds = explorer.get_by_role("combobox", name="Kind of attention")
    names = ["encoder: self", "decoder: causal", "decoder: cross"]
    expect(kinds.locator("option")).to_have_text(names)
    expect(kinds).to_have_js_property("selectedIndex", 0)
    expect(words(explorer, "Words")).to_have_count(len(source))

    kinds.select_option("decoder: cross")
    expect(explorer.locator(".headscope")).to_have_attribute("data-site", "5")
    expect(kinds).to_have_js_property("selectedIndex", 2)
    expect(words(explorer, "Words that look")).to_have_count(len(target))
    expect(words(explorer, "Words that are looked at")).to_have_count(len(source))

    kinds.select_option("decoder: causal")
    expect(explorer.locator(".headscope")).to_have_attribute("data-site", "4")
    expect(words(explorer, "Words")).to_have_count(len(target))


def test_a_thousand_heads_are_ranked_and_sorted(page: Page, explore) -> None:
    source = random_source(32, 33, 5)
    view = explore(source, layer=20, head=7)
    open_lab(page, "Numbers")
    expect(page.locator("tr[aria-selected=true]")).to_be_in_viewport()
    expect(page.locator("tr[aria-selected=true] th")).to_have_text("20 · 7")
    shares = source.array.diagonal(-1, 2, 3).mean(-1)
    page.get_by_role("button", name="Previous token").click()
    expect(page.locator("[aria-sort=descending]")).to_have_text("Previous token")
    page.locator(".hs-table-scroller").press("Home")
    view.shows(*divmod(int(shares.argmax()), 33))
    page.locator(".hs-table-scroller").press("End")
    view.shows(*divmod(int(shares.argmin()), 33))
    page.get_by_role("button", name="Induction", exact=True).click()
    undefined = "Induction is not defined for any head here: no token occurs twice."
    expect(page.get_by_text(undefined)).to_be_visible()

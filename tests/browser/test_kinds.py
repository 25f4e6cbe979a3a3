"""An encoder–decoder in the text view: three kinds of attention, each with its own two texts."""

from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect

from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from tests.browser.explorer_pages import Traced
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

"""An encoder–decoder in the text view: three kinds of attention, each with its own two texts."""

from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect

from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from tests.browser.views import Server, View
from viz.api.entries import TraceEntry
from viz.api.requests import parse_query
from viz.routes import ENDPOINTS

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


class Traced:
    """A trace, answered for by the app's own API code."""

    trace = "t1"

    def __init__(self, shown: Any) -> None:
        self.entry = TraceEntry(shown, lambda *_: "")

    def answer(self, route: str, query: dict[str, str]) -> Any:
        endpoint = next(e for e in ENDPOINTS if e.name == route and e.applies(self.entry))
        asked = parse_query(list(query.items()), endpoint.required, endpoint.optional)
        return endpoint.answer(self.entry, self.trace, **asked)


@pytest.fixture(scope="module")
def pair():
    sizes: dict[str, Any] = {"dim": 21, "heads": 3, "depth": 2, "mlp": 13, "d_k": 7, "d_v": 5}
    model = load(Seq2SeqConfig(source_vocab=53, target_vocab=53, **sizes))
    return trace(model, torch.arange(4, 17)[None], torch.arange(5, 12)[None])


@pytest.fixture
def explorer(page: Page, server: Server, pair) -> Page:
    start = {"layer": 1, "attention": "self", "tower": "encoder", "head": 2}
    view = View(page, server, Traced(pair), {"kind": "text", "start": start}, "/text")
    view.shows(1, 2)
    return page


def chips(page: Page, which: str) -> list[str]:
    return page.locator(f".{which} .hs-chip").all_inner_texts()


def test_a_button_for_each_kind_keeps_the_layer_and_shows_its_texts(explorer, pair):
    source, target = pair.labels, pair.query_labels(pair.sites[2])
    kinds = explorer.get_by_role("group", name="Kind of attention").get_by_role("button")
    expect(kinds).to_have_text(["encoder: self", "decoder: causal", "decoder: cross"])
    expect(kinds.nth(0)).to_have_attribute("aria-pressed", "true")
    expect(explorer.locator(".hs-chips .hs-chip")).to_have_text(source)

    kinds.nth(2).click()
    expect(explorer.locator(".headscope")).to_have_attribute("data-site", "5")
    expect(kinds.nth(2)).to_have_attribute("aria-pressed", "true")
    expect(explorer.locator(".hs-choice .hs-chip")).to_have_count(len(target))
    assert chips(explorer, "hs-choice") == target
    assert chips(explorer, "hs-chips") == source
    label = explorer.locator(".hs-overlay").get_attribute("aria-label") or ""
    assert "layer 1 · cross, head 2: 7 query tokens (rows) over 13 key tokens" in label

    kinds.nth(1).click()
    expect(explorer.locator(".headscope")).to_have_attribute("data-site", "4")
    expect(explorer.locator(".hs-chips .hs-chip")).to_have_count(len(target))


def test_rows_of_the_overview_are_the_layers_of_the_chosen_kind(explorer):
    explorer.get_by_role("button", name="The target’s tokens").click()
    expect(explorer.locator(".headscope")).to_have_attribute("data-site", "5")
    expect(explorer.locator(".hs-rows span")).to_have_text(["layer 0", "layer 1"])
    atlas = explorer.locator(".hs-atlas [tabindex='0']")
    atlas.focus()
    explorer.keyboard.press("ArrowUp")
    expect(explorer.locator(".headscope")).to_have_attribute("data-site", "3")
    explorer.keyboard.press("ArrowUp")  # no farther: that is another kind
    expect(explorer.locator(".headscope")).to_have_attribute("data-site", "3")
    stepper = explorer.get_by_role("combobox", name="Layer")
    expect(stepper.locator("option")).to_have_text(["0", "1"])
    stepper.select_option("1")
    expect(explorer.locator(".headscope")).to_have_attribute("data-site", "5")


def test_a_weight_read_out_is_one_of_the_trace(explorer, pair):
    explorer.get_by_role("button", name="The target’s tokens").click()
    expect(explorer.locator(".headscope")).to_have_attribute("data-site", "5")
    explorer.locator(".hs-overlay").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):  # the first press shows the cross-hair
        explorer.keyboard.press(key)
    query, keys = pair.query_labels(pair.sites[5]), pair.labels
    weight = float(pair.weights(1, 2, kind="cross")[1, 1])
    read = explorer.locator(".hs-matrix .hs-read")
    expect(read).to_contain_text(f"“{query[1]}” (1) → “{keys[1]}” (1): {weight:.5f} · row sum")

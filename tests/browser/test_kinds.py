"""An encoder–decoder in the explorer: three kinds of attention, each with its own two texts."""

from typing import Any

import pytest
import torch
from headscope_views.standalone import page as standalone
from playwright.sync_api import Page, expect

from models.run import load, trace
from models.seq2seq import Seq2SeqConfig
from viz.pages import answers

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


@pytest.fixture(scope="module")
def pair():
    sizes: dict[str, Any] = {"dim": 21, "heads": 3, "depth": 2, "mlp": 13, "d_k": 7, "d_v": 5}
    model = load(Seq2SeqConfig(source_vocab=53, target_vocab=53, **sizes))
    return trace(model, torch.arange(4, 17)[None], torch.arange(5, 12)[None])


@pytest.fixture
def explorer(page: Page, tmp_path, pair) -> Page:
    select = {"site": 1, "head": 2, "token": None, "direction": "out", "scale": "fixed"}
    file = tmp_path / "explorer.html"
    first = answers.first(pair, "t1", answers.thumbs(pair), select)
    file.write_text(standalone(first, listen=True), encoding="utf-8")
    page.goto(file.as_uri())
    expect(page.locator(".headscope")).to_have_attribute("data-site", "1")
    return page


def chips(page: Page, which: str) -> list[str]:
    return page.locator(f".{which} .hs-chip").all_inner_texts()


def test_a_button_for_each_kind_keeps_the_layer_and_shows_its_texts(explorer, pair):
    source, target = pair.labels, pair.query_labels(pair.sites[2])
    kinds = explorer.get_by_role("group", name="Kind of attention").get_by_role("button")
    assert kinds.all_inner_texts() == ["encoder: self", "decoder: causal", "decoder: cross"]
    expect(kinds.nth(0)).to_have_attribute("aria-pressed", "true")
    assert chips(explorer, "hs-chips") == source

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
    explorer.get_by_role("button", name="The written text’s tokens").click()
    rows = explorer.locator(".hs-rows span")
    assert rows.all_inner_texts() == ["layer 0", "layer 1"]
    atlas = explorer.locator(".hs-atlas [tabindex='0']")
    atlas.focus()
    explorer.keyboard.press("ArrowUp")
    expect(explorer.locator(".headscope")).to_have_attribute("data-site", "3")
    explorer.keyboard.press("ArrowUp")  # no farther: that is another kind
    expect(explorer.locator(".headscope")).to_have_attribute("data-site", "3")
    stepper = explorer.get_by_role("combobox", name="Layer")
    assert stepper.locator("option").all_inner_texts() == ["0", "1"]
    stepper.select_option("1")
    expect(explorer.locator(".headscope")).to_have_attribute("data-site", "5")


def test_a_weight_read_out_is_one_of_the_trace(explorer, pair):
    explorer.get_by_role("button", name="The written text’s tokens").click()
    explorer.locator(".hs-overlay").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):  # the first press shows the cross-hair
        explorer.keyboard.press(key)
    query, keys = pair.query_labels(pair.sites[5]), pair.labels
    read = explorer.locator(".hs-matrix .hs-read")
    expect(read).to_contain_text(query[1])
    expect(read).to_contain_text(keys[1])
    weight = float(pair.weights(1, 2, kind="cross")[1, 1])
    shown = float(read.inner_text().split("≈")[1].split()[0])
    assert shown == pytest.approx(weight, abs=1 / 255)  # half a step of a byte at its steepest

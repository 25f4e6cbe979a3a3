"""Models in a real browser: folders with two towers, what is wrong, what is open."""

import re
from pathlib import Path
from typing import Any

import pytest
import transformers
from playwright.sync_api import Page, expect

from benchmarks.coverage.tiny import build
from tests.browser.views import VIEW, open_lab, open_page, painted, trace_of
from tests.models.architectures import BY_NAME

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


def saved(factory: pytest.TempPathFactory, name: str) -> str:
    place = factory.mktemp("saved") / name.lower()
    built: Any = BY_NAME[name].build()
    built.save_pretrained(place)
    return str(place)


@pytest.fixture(scope="module")
def towers(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a small model with two towers that attend alike."""
    return saved(tmp_path_factory, "SigLIP")


def test_towers_are_named_and_kept_in_the_link_and_a_bad_path_leaves_them(page, app_url, towers):
    open_page(page, f"{app_url}/?place=folder&folder={towers}&ids=3+4+5&layer=1&form=lines")
    kinds = page.get_by_role("combobox", name="Kind of attention")
    tokens = page.locator(".hs-column-query").get_by_role("option")
    names = kinds.locator("option").all_inner_texts()
    assert sorted(names) == ["text: self", "vision: self"]
    kinds.select_option("vision: self")  # what is worth seeing is in the other one
    page.wait_for_url(re.compile("tower=vision"))
    page.reload()
    painted(page)
    expect(kinds).to_have_js_property("selectedIndex", names.index("vision: self"))
    kinds.select_option("text: self")
    expect(tokens).to_have_count(3)
    lines = page.get_by_role("img", name=re.compile("^Lines of .*layer 1 · text: self"))
    expect(lines.first).to_be_visible()
    shown = trace_of(page)
    page.get_by_role("button", name="/".join(Path(towers).parts[-2:])).click()
    box = page.get_by_role("textbox", name="A model of the hub, or a folder")
    box.fill(f"{towers}-gone")
    box.press("Enter")
    expect(page.get_by_text("there is no folder")).to_be_visible()
    expect(page.get_by_role("button", name="/".join(Path(towers).parts[-2:]))).to_be_visible()
    expect(page.locator(f"{VIEW}[data-trace='{shown}']")).to_have_count(1)
    open_lab(page, "About this model")
    page.get_by_role("button", name="Is this what the model used?").click()
    expect(page.get_by_text("Yes, up to the rounding of float32")).to_be_visible()


def test_the_camera_takes_a_picture(page, app_url):
    open_page(page, f"{app_url}/?model=shapes")
    page.get_by_role("button", name="Camera").click()
    expect(page.locator("video")).to_have_js_property("readyState", 4)
    page.get_by_test_id("stCameraInputButton").click()
    expect(page.get_by_role("button", name="Your picture")).to_be_visible()
    page.wait_for_url(re.compile("upload="))
    expect(page.locator("video")).to_have_count(0)


def test_the_microphone_records(page, app_url, tmp_path_factory):
    folder = saved(tmp_path_factory, "wav2vec 2.0")
    transformers.Wav2Vec2FeatureExtractor().save_pretrained(folder)
    open_page(page, f"{app_url}/?place=folder&folder={folder}")
    page.get_by_role("button", name="Record", exact=True).click()
    page.get_by_test_id("stAudioInputActionButton").click()
    expect(page.get_by_text(re.compile("00:0[1-9]"))).to_be_visible()
    page.get_by_role("button", name="Stop recording").click()
    expect(page.get_by_role("button", name="Your recording")).to_be_visible()
    page.wait_for_url(re.compile("recording="))
    painted(page)


def test_a_head_says_whose_keys_it_shares(page, app_url, tmp_path_factory):
    folder = saved(tmp_path_factory, "Llama")  # six heads of queries, two of keys
    open_page(page, f"{app_url}/?place=folder&folder={folder}&ids=3+4+5&head=4")
    expect(page.locator(".hs-names")).to_contain_text("layer 0 · head 4 (keys of group 1)")


def test_weights_that_a_model_computes_itself_are_shown_and_not_changed(
    page: Page, app_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("saved") / "bloom"
    made: Any = build("bloom", "causal")
    made.save_pretrained(folder)
    open_page(page, f"{app_url}/?place=folder&folder={folder}&ids=3+4+5&layer=1&head=2&form=matrix")
    expect(page.get_by_role("figure", name=re.compile("^Matrix"))).to_be_visible()
    expect(page.get_by_role("button", name="Inside a head")).to_be_disabled()
    open_lab(page, "About this model")
    expect(page.get_by_text("they can be looked at, not changed").first).to_be_visible()
    expect(page.get_by_role("button", name="Experiment", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Is this what the model used?").click()
    expect(page.get_by_text(re.compile("compute their weights themselves"))).to_be_visible()

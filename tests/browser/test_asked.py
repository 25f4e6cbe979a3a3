"""A question about a picture, in a browser without Streamlit."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from analysis import grounding
from models.request import File, Question, Source, TraceRequest, file_of
from tests.browser.explorer_pages import Traced, open_text
from tests.browser.views import Server
from tests.models.vision_language import BY_NAME, photo
from tests.viz.api.test_pictured import compared_entry
from viz.api import tracing
from viz.export import export

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


def asked(folder: Path, family: str = "LLaVA") -> Traced:
    """A tiny model's trace of a question about a photo."""
    return answered(folder, family, Question("what is it", (named("photo.png", 0),)))


def filmed(folder: Path) -> Traced:
    """A tiny Qwen2-VL's trace of a question about a video of five frames."""
    frames = tuple(named(f"{number}.png", number) for number in range(5))
    return answered(folder, "Qwen2-VL", Question("what is it", frames, video=True))


def answered(folder: Path, family: str, question: Question) -> Traced:
    source = tracing.stamped(Source("folder", str(BY_NAME[family].save(folder))))
    return Traced(tracing.entry_for(TraceRequest(source, question, "a dog sits")).value)


def named(name: str, seed: int) -> File:
    data = io.BytesIO()
    photo(seed=seed).resize((300, 200)).save(data, "PNG")
    return file_of(data.getvalue(), name)


def opened(page: Page, server: Server, source: Traced, size: str = "wide", **start: Any) -> Locator:
    """The panel of pictures as a link opens it."""
    chosen = {"layer": 0, "head": 1, "attention": "causal", "direction": "out"}
    open_text(page, server, source, size, **chosen | start)
    return page.locator(".hs-pictures")


def test_captions_are_compared_and_each_has_its_map(
    page: Page, server: Server, tmp_path: Path
) -> None:
    panel = opened(page, server, Traced(compared_entry(tmp_path)), tower="text")
    entry = panel.get_by_role("textbox", name="Captions to compare, one a line")
    entry.fill("a dog\n\na cat")
    entry.blur()
    chips = panel.locator(".hs-captions .hs-chip")
    expect(chips).to_have_count(2)
    expect(chips.filter(has_text="a cat")).to_have_text(re.compile(r"^−?\d+\.\d\d a cat$"))
    chips.filter(has_text="a dog").click()
    expect(chips.filter(has_text="a dog")).to_have_attribute("aria-pressed", "true")
    expect(panel.locator(".hs-sentence")).to_contain_text("speak for “a dog”")
    expect(panel.locator("figcaption")).to_contain_text(re.compile(r"colours up to [\d.e-]+"))


def test_a_word_is_tested_without_a_map(page: Page, server: Server, tmp_path: Path) -> None:
    panel = opened(page, server, asked(tmp_path, "BLIP-2"), tower="language")
    says = panel.locator(".hs-sentence")
    expect(says).to_contain_text("No map can be drawn on the picture: its image tokens are learned")
    panel.get_by_role("radio", name="dog").click()
    panel.get_by_role("button", name="Let the model read again without the whole picture").click()
    expect(panel.locator(".hs-read")).to_contain_text("with all of it in its mean colour")
    expect(panel.get_by_role("textbox", name="A rival word")).to_have_count(0)


def test_a_saved_page_has_the_pictures_and_what_the_words_look_at(
    page: Page, tmp_path: Path
) -> None:
    entry = asked(tmp_path).entry
    assert entry.opened is not None
    model, prompt, _ = entry.opened()
    site = grounding.sites_on_pictures(entry.trace)[0]
    how: dict[str, Any] = {"layer": site.layer, "head": 1, "kind": site.kind, "tower": site.tower}
    file = export(entry.trace, tmp_path / "page.html", run=(model, prompt), **how)
    page.goto(file.as_uri())
    panel = page.locator(".hs-pictures")
    panel.get_by_role("radio", name="dog").click()
    expect(panel.locator(".hs-sentence")).to_contain_text("while the model wrote “dog”")
    expect(panel.locator("figcaption")).to_contain_text("25 tokens (5 × 5) · colours up to 0.")
    (row,) = grounding.rows_of(entry.trace, [1])
    share = float(grounding.split(entry.trace, site, [row]).image[1])
    expect(panel.get_by_role("definition").first).to_have_text(f"{100 * share:#.2g} %".lstrip())
    expect(panel.locator(".hs-doubt")).not_to_contain_text("Drag")
    expect(panel.get_by_role("textbox", name="A rival word")).to_be_hidden()


def test_a_word_looks_at_patches_and_an_area_is_tested(
    page: Page, server: Server, tmp_path: Path
) -> None:
    where = {"attention": "self", "tower": "vision"}
    panel = opened(page, server, asked(tmp_path), "phone", **where)
    words = page.get_by_role("radiogroup", name="Words of the answer").get_by_role("radio")
    expect(words).to_have_text(["a", "dog", "sits"])
    words.nth(1).click()
    expect(words.nth(1)).to_have_attribute("aria-checked", "true")
    expect(panel.locator(".hs-sentence")).to_contain_text("while the model wrote “dog”")
    expect(panel.locator("figcaption")).to_have_text(
        re.compile(r"Picture · 25 tokens \(5 × 5\) · colours up to 0\.")
    )
    expect(panel.get_by_role("definition")).to_have_count(3)
    head = panel.locator(".hs-pictures-head").nth(2)
    head.click()
    expect(head).to_have_attribute("aria-pressed", "true")

    canvas = panel.locator(".hs-face")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    left, top, wide, tall = (box[side] for side in ("x", "y", "width", "height"))
    page.mouse.move(left + 0.3 * wide, top + 0.1 * tall)
    page.mouse.down()
    page.mouse.move(left + 0.6 * wide, top + 0.7 * tall)
    page.mouse.up()
    told = panel.locator(".hs-read")
    expect(told).to_contain_text("with the area in its mean colour; with areas")
    expect(told).to_contain_text(re.compile("Needed|Not shown to be needed"))
    looked = panel.locator(".hs-looked")
    expect(looked).to_contain_text(re.compile(r"Weight on the area \(\d+ tokens\) .*“dog” "))
    panel.get_by_role("textbox", name="A rival word").fill("cat")
    panel.get_by_role("textbox", name="A rival word").press("Enter")
    expect(told).to_contain_text("that of “cat”: what speaks for “dog”")
    panel.get_by_role("button", name="Show the weights again").click()
    expect(told).to_contain_text("Drag over a picture")

    canvas.press("ArrowRight")
    expect(looked).to_contain_text("Weight on the area (1 token)")
    canvas.press("Shift+ArrowRight")
    canvas.press("Shift+ArrowDown")
    expect(looked).to_contain_text("Weight on the area (4 tokens)")
    expect(told).to_contain_text("Drag over a picture")
    canvas.press("Enter")
    expect(told).to_contain_text("with the area in its mean colour")
    panel.get_by_role("button", name="Relevance", exact=True).click()
    expect(told).to_contain_text("What raises the logit of “dog”")
    panel.get_by_role("button", name="Show the weights again").click()
    expect(told).to_contain_text("Drag over a picture")

    canvas.click(position={"x": wide / 2, "y": tall / 2})
    expect(panel.locator(".hs-sentence")).to_contain_text("which words looked at")


def test_frames_of_a_video_have_a_slider_and_an_area_of_their_own(
    page: Page, server: Server, tmp_path: Path
) -> None:
    panel = opened(page, server, filmed(tmp_path), tower="text")
    panel.get_by_role("radio", name="dog").click()
    slider = panel.get_by_role("slider", name="Frames")
    told = panel.locator(".hs-moments")
    expect(told).to_contain_text(re.compile(r"Frames 1 and 2 share their tokens: .* of the weight"))
    expect(panel.locator("figcaption")).to_have_count(2)
    slider.press("ArrowRight")
    expect(slider).to_have_attribute("aria-valuetext", "frames 3 and 4")
    expect(panel.locator("figcaption").first).to_have_text(
        re.compile(r"^Frame 3 · 24 tokens \(4 × 6\) · ")
    )
    canvas = panel.locator(".hs-face").first
    canvas.press("ArrowRight")
    canvas.press("Enter")
    expect(panel.locator(".hs-read")).to_contain_text("“dog”: ")
    expect(panel.locator(".hs-looked")).to_contain_text("Weight on the area (1 token)")
    slider.press("End")
    expect(told).to_contain_text("Frame 5 has tokens of its own")
    expect(panel.locator("figcaption")).to_have_count(1)

"""The pass changed on the page: a head switched off, the strip, undo, and the link in a new tab."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from analysis.effects import Logit
from analysis.generation import continue_text
from analysis.sweep import sweep
from models.edits import Ablate, Patch, Temperature
from models.run import load, trace
from tests.browser.views import (
    VIEW,
    another_trace,
    go_to_head,
    open_lab,
    open_page,
    painted,
    trace_of,
)
from viz.api import samples

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
LINK = "?model=grammar-next&layer=1&head=0"


def lab(page: Page, unfold: str = "") -> Locator:
    """The drawer, opened at Experiment, with one edit unfolded."""
    drawer = page.get_by_role("region", name="Experiment")
    if not drawer.is_visible():
        open_lab(page, "Experiment")
    if unfold:
        edit = drawer.get_by_role("button", name=unfold)
        if edit.get_attribute("aria-expanded") == "false":
            edit.press("Enter")
    return drawer


def changed(page: Page, number: int = 0) -> Locator:
    """One of the edits that are listed."""
    return page.locator(".hs-lab-changed > li").nth(number)


def test_a_head_is_switched_off_seen_undone_and_linked(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/{LINK}")
    plain = trace_of(page)
    off = lab(page).get_by_role("button", name="nothing")
    off.press("Enter")
    expect(changed(page)).to_contain_text("Layer 1, head 0: values become zero")
    expect(off).to_have_attribute("aria-pressed", "true")
    page.wait_for_url(re.compile(r"edits=Ablate%281.*lab=experiment"))
    another_trace(page, plain)
    edited = trace_of(page)
    expect(page.locator(".hs-answer")).to_contain_text("change (KL")
    with page.context.expect_page() as opening:
        page.evaluate("open(location.href)")
    tab = opening.value
    expect(changed(tab)).to_contain_text("head 0: values become zero", timeout=30_000)
    painted(tab, trace=edited)
    tab.close()
    changed(page).get_by_role("button", name="Undo").click()
    painted(page, trace=plain)
    expect(changed(page)).to_have_count(0)
    expect(off).to_have_attribute("aria-pressed", "false")
    for _ in range(3):
        page.keyboard.press("ControlOrMeta+z")
        painted(page, trace=edited)
        page.keyboard.press("ControlOrMeta+y")
        painted(page, trace=plain)
    page.keyboard.press("ControlOrMeta+z")
    painted(page, trace=edited)
    page.get_by_role("button", name=re.compile("^Before")).click()
    painted(page, trace=plain)
    off.press("Escape")
    expect(off).to_have_count(0)


def test_the_difference_is_drawn_and_read_and_its_link_shows_the_same(
    page: Page, app_url: str
) -> None:
    model = load("grammar-next")
    open_page(page, f"{app_url}/{LINK}&edits=Temperature(0.2,layer=1)&input=the+cat+saw+the+dog")
    lab(page).get_by_role("button", name="Difference").click()
    expect(page.locator(".hs-names")).to_contain_text("after minus before the edits")
    plain, edited = (
        trace(model, "the cat saw the dog", edits=each).weights(1, 0)
        for each in ([], [Temperature(0.2, layer=1)])
    )
    overlay = page.locator(".hs-matrix .hs-overlay")
    overlay.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    read = page.locator(".hs-matrix .hs-read")
    expect(read).to_contain_text(re.compile(r"\(1\) → .* \(1\): change "))
    places = [int(each) for each in re.findall(r"\((\d+)\)", read.inner_text())]
    expect(read).to_contain_text(f"{float((edited - plain)[tuple(places)]):+.5f}")
    page.wait_for_url(re.compile("edited=difference"))
    with page.context.expect_page() as opening:
        page.evaluate("open(location.href)")
    expect(opening.value.locator(".hs-names")).to_contain_text("after minus before the edits")


def test_a_link_is_cut_and_a_state_patched_by_keyboard(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/{LINK}&token=3")
    drawer = lab(page, "Cut a link")
    drawer.get_by_label("Key", exact=True).select_option(index=1)
    drawer.get_by_role("button", name="Cut", exact=True).press("Enter")
    expect(changed(page)).to_contain_text("Layer 1, head 0: query 3 cannot attend to key 1.")
    drawer = lab(page, "Patch from another text")
    drawer.get_by_label("Second text").fill("the dogs run")
    drawer.get_by_role("group", name="Where").get_by_role("button").nth(1).press("Enter")
    patch = drawer.get_by_role("button", name="Patch", exact=True)
    what = drawer.get_by_label("What is patched")
    what.select_option("what the head adds")
    patch.press("Enter")
    expect(changed(page, 1)).to_contain_text("those of token 3 of another input")
    page.wait_for_url(re.compile("second=the"))


def test_what_the_model_says_stays_and_leads_to_its_parts(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/?model=induction&token=3")
    line = page.locator(".hs-answer")
    expect(line).to_contain_text(re.compile(r"Next word.+\s%"))
    first = line.text_content() or ""
    view = page.locator(VIEW)
    view.locator(".hs-overlay").focus()
    for key in ("ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url(re.compile("token=1"))
    expect(line).to_have_text(first)
    chip = line.get_by_role("button").first
    name = chip.locator("bdi").text_content() or ""
    chip.click()
    parts = view.get_by_role("button", name="What adds to it")
    expect(parts).to_have_attribute("aria-pressed", "true")
    page.wait_for_url(re.compile(f"output={name}"))


def test_each_of_several_masks_can_be_reached_from_the_line(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/?model=grammar&input=the+[MASK]+near+the+girls+[MASK]+happy")
    mask = page.get_by_label("Mask", exact=True)
    expect(mask).to_have_value("0")
    first = page.locator(".hs-answer").inner_text()
    page.get_by_role("button", name="Next mask").click()
    page.wait_for_url(re.compile("token=6"))
    expect(page.locator(".hs-answer")).not_to_have_text(first)
    mask.select_option("0")
    page.wait_for_url(re.compile("token=2"))


def test_a_decoder_writes_on_and_its_steps_are_walked_by_keyboard(page: Page, app_url: str) -> None:
    text = "the cat saw the dog"
    open_page(page, f"{app_url}/?model=grammar-next&input={text.replace(' ', '+')}")
    plain = trace_of(page)
    open_lab(page, "Numbers")
    page.get_by_label("Tokens", exact=True).fill("3")
    page.get_by_label("Tokens", exact=True).press("Enter")
    another_trace(page, plain)
    written = list(continue_text(load("grammar-next"), text, 3).trace.tokens[0].labels)
    sentence = page.locator(".hs-tour .hs-walk-text")
    expect(sentence).to_contain_text(f"Step 1 of 3: after “dog” it wrote “{written[6]}”")
    slider = page.get_by_role("slider", name="Step")
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(sentence).to_contain_text(f"Step 2 of 3: after “{written[6]}” it wrote “{written[7]}”")
    expect(page.locator(".hs-cache .hs-chip")).to_have_count(7)
    page.wait_for_url(re.compile("token=6"))


def test_heads_that_matter_are_swept(page: Page, app_url: str) -> None:
    text = "the cat saw the dog"
    open_page(page, f"{app_url}/?model=grammar-next&input={text.replace(' ', '+')}&lab=sweeps")
    page.get_by_role("button", name=re.compile("^Which heads matter")).press("Enter")
    check = page.locator(".hs-matters .hs-check")
    expect(check).to_contain_text("of them exactly", timeout=30_000)
    model = load("grammar-next")
    id = int(trace(model, text).output.values[0, -1].argmax())
    changes = sweep(model, text, edit=Ablate, measure=Logit(id))
    layer, head = divmod(int(changes.abs().argmax()), changes.shape[1])
    read = page.locator(".hs-matters .hs-sweep-read")
    expect(read).to_contain_text(f"Layer {layer}, head {head}: ")
    told = re.findall(r"([−\d.]+) exactly", read.inner_text())[0].replace("−", "-")
    assert float(told) == pytest.approx(float(changes[layer, head]), abs=2e-3)
    cells = page.locator(".hs-matters .hs-cell")
    expect(cells).to_have_count(changes.numel())
    cells.first.click()
    expect(read).to_contain_text("Layer 0, head 0: ")

    page.get_by_role("button", name=re.compile("^Which states matter")).press("Enter")
    page.get_by_role("textbox", name="Second text, with the same").fill("the dog saw the dog")
    page.keyboard.press("Enter")
    expect(page.locator(".hs-patched .hs-check")).to_contain_text("of them exactly", timeout=30_000)
    page.locator(".hs-patched .hs-cell").nth(2).click()
    expect(page.locator(".hs-patched .hs-sweep-read")).to_contain_text(
        "Layer 0, at “cat” (2), with “dog” there"
    )


def test_the_head_that_a_picture_needs_most_becomes_an_edit(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/?model=digits&matter=zero")
    expect(page.locator(".hs-matters .hs-check")).to_contain_text("of them exactly", timeout=60_000)
    read = page.locator(".hs-matters .hs-sweep-read")
    expect(read).to_contain_text("exactly")
    layer, head = re.findall(r"Layer (\d+), head (\d+)", read.inner_text())[0]
    page.get_by_role("button", name="Switch it off").press("Enter")
    page.wait_for_url(re.compile(rf"edits=Ablate%28{layer}%2C\+{head}%29"))
    expect(page.locator(".hs-matters .hs-check")).to_contain_text("of them exactly", timeout=30_000)


def test_a_weight_is_typed_and_stays_one_edit(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/{LINK}&token=3")
    plain = trace_of(page)
    drawer = lab(page, "Set a weight")
    weight = drawer.get_by_label("Weight in percent")
    for share in (25, 50):
        drawer.get_by_label("Key", exact=True).select_option(index=1)
        weight.fill(str(share))
        weight.press("Enter")
        words = f"query 3 gives key 1 the weight {share / 100:g}; the row keeps its sum"
        expect(changed(page)).to_contain_text(words)
    page.wait_for_url(lambda url: url.count("SetWeights") == 1 and "0.5" in url)
    another_trace(page, plain)


def test_patches_are_chosen_together_by_pointer_and_by_keys(page: Page, app_url: str) -> None:
    open_page(page, f"{app_url}/?model=digits")
    photo = page.locator(".hs-photo .hs-face").first
    box = photo.bounding_box()
    assert box is not None
    for share in (0.1, 0.4):
        spot = box["x"] + share * box["width"], box["y"] + share * box["height"]
        page.mouse.move(*spot, steps=4)
        if share < 0.4:
            page.mouse.down()
    page.mouse.up()
    chosen = page.locator(".hs-region-actions")
    expect(chosen).to_contain_text(re.compile(r"\d × \d patches"))
    photo.press("Escape")
    expect(chosen).to_be_hidden()
    photo.click(position={"x": 4, "y": 4})
    photo.press("Shift+ArrowRight")
    photo.press("Shift+ArrowDown")
    expect(chosen).to_contain_text("2 × 2 patches")
    chosen.get_by_role("button", name="Cut").click()
    page.wait_for_url(re.compile(r"edits=Cut%28None%2C\+None%2C\+None"))
    photo.press("Shift+ArrowRight")
    chosen.get_by_role("button", name="Cover").click()
    page.wait_for_url(re.compile("edits=.*Cover"))


def with_a_second_text(page: Page, app_url: str, text: str, other: str) -> None:
    """Opens a second text beside the first."""
    open_page(page, f"{app_url}/{LINK}&input={text.replace(' ', '+')}")
    open_lab(page, "Compare")
    field = page.get_by_label("Second text", exact=True)
    field.fill(other)
    overlay = page.locator(".hs-matrix .hs-overlay")
    box = overlay.bounding_box()
    assert box is not None
    # The view is drawn again while one types; a matrix narrower than its canvas stands at the left.
    overlay.hover(position={"x": 0.25 * box["width"], "y": 0.6 * box["height"]})
    expect(page.locator(".hs-tip")).to_be_visible()
    expect(field).to_have_value(other)
    page.mouse.move(1, 1)
    expect(page.locator(".hs-tip")).to_have_count(0)
    field.press("Enter")
    expect(page.locator(".hs-other > h3")).to_contain_text(other)
    page.wait_for_url(re.compile("second=the"))
    expect(page.locator(".hs-other .headscope[data-painted]")).to_have_count(1)


def test_a_head_is_taken_from_a_second_text(page: Page, app_url: str) -> None:
    text, other = "the cat saw the dog", "the dogs saw the cat"
    model = load("grammar-next")
    with_a_second_text(page, app_url, text, other)
    lab(page, "Patch from").get_by_role("button", name="Patch", exact=True).press("Enter")
    expect(changed(page)).to_contain_text(
        "Layer 1, head 0: values after attention of every token become"
    )
    page.wait_for_url(re.compile("edits=Patch"))
    before = trace(model, text).output.row(-1).softmax(-1)
    edits = [Patch(1, "head", trace(model, other), head=0)]
    after = trace(model, text, edits=edits).output.row(-1).softmax(-1)
    likeliest = int(before.topk(2).indices[1])
    shares = [f"{100 * float(each[likeliest]):.2g} %" for each in (before, after)]
    change = " → ".join(shares)
    expect(page.locator(".hs-answer").first).to_contain_text(change)


def test_states_of_a_second_picture_are_mapped_and_patched(page: Page, app_url: str) -> None:
    first, second, *_ = samples.samples("digits")
    page.goto(f"{app_url}/?model=digits&photo={first}&compare=photo:{second}&lab=sweeps")
    page.get_by_role("button", name=re.compile("^Which states matter")).click(timeout=60_000)
    box = page.locator(".hs-faithful", has=page.locator(".hs-states"))
    expect(box.locator(".hs-check")).to_contain_text("10 of them exactly", timeout=60_000)
    maps = box.locator(".hs-states .hs-face")
    expect(maps).to_have_count(len(load("digits").network.blocks))
    read = box.locator(".hs-sweep-read")
    best = read.inner_text()
    maps.first.press("ArrowRight")
    expect(read).not_to_have_text(best)
    layer, row, col = re.findall(r"Layer (\d+), .*?(\d+),(\d+): ", read.inner_text())[0]
    assert layer == "0"
    token = 1 + int(row) * 8 + int(col)  # of 8 × 8 patches, behind the class token
    expect(page).to_have_url(re.compile(r"states=yes\b"))
    expect(box.locator(".hs-area")).to_have_count(1)
    patch = box.get_by_role("button", name="Patch this state")
    go_to_head(page, 0, 0)
    patch.press("Enter")
    said = f"Hidden state 0: token {token} gets that of token {token}"
    lab(page)
    expect(changed(page)).to_contain_text(said)

"""Page Build in a real browser: one picture, opened down to one multiplication."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.driver import rest
from tests.browser.looks import first_look, looks

pytestmark = pytest.mark.browser
PICTURE = ".hs-build"
CARDS = f"{PICTURE} > .hs-build-card"
WITHIN = """picture => {
  const right = picture.getBoundingClientRect().right + 1;
  return [...picture.querySelectorAll(":scope > section")].every(
    (card) => card.getBoundingClientRect().right <= right);
}"""


@pytest.fixture(autouse=True)
def silent(console: list[str]):
    """The console, but for what Streamlit asks below a page first, and then at the root, and for
    parts that a network does not have after a change."""
    yield
    asked = ("/build/_stcore/", "/card?at=", "/cell?at=")
    console[:] = [each for each in console if not any(path in each for path in asked)]


def open_page(page: Page, url: str, query: str = "") -> None:
    page.goto(f"{url}/build?{query}")
    expect(page.locator(CARDS).first).to_be_visible(timeout=60_000)


def test_it_opens_on_a_layer_a_head_and_a_score_in_light_and_dark(page, app_url):
    first_look(page)
    open_page(page, app_url)
    expect(page.locator(CARDS)).to_have_count(4)
    expect(page.locator(CARDS).nth(3)).to_contain_text("the sum of the products")
    for mode in looks(page):
        expect(page.locator(f".headscope[data-mode={mode}] {PICTURE}")).to_have_count(1)
        page.wait_for_function(WITHIN, arg=page.locator(PICTURE).element_handle())


def test_from_the_whole_to_one_product_by_keys_and_back_by_the_link(page, app_url):
    """Layer 1, its second head, a weight, the next product: each by a key or two."""
    open_page(page, app_url, "open=none")
    expect(page.locator(CARDS)).to_have_count(1)
    layers = page.get_by_role("group", name="2 layers").get_by_role("button")
    layers.nth(0).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    head = page.get_by_role("button", name="Head 0")
    expect(head).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    scores = page.get_by_role("img", name=re.compile("^scores"))
    expect(scores).to_be_visible()
    scores.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    products = page.get_by_role("group", name=re.compile("^Products"))
    expect(products).to_contain_text("q × k")
    products.focus()
    page.keyboard.press("Home")
    before = products.locator(".hs-read").inner_text()
    page.keyboard.press("m")
    expect(products.locator(".hs-read")).not_to_have_text(before)
    page.wait_for_url(re.compile(r"open=m.*blocks\.1.*h.*1.*n.*scores"))
    page.reload()
    expect(page.locator(CARDS)).to_have_count(4, timeout=60_000)
    page.locator(CARDS).nth(2).get_by_role("button", name="Close this box").focus()
    page.keyboard.press("Backspace")
    expect(page.locator(CARDS)).to_have_count(3)
    page.keyboard.press("Backspace")
    expect(page.locator(CARDS)).to_have_count(2)
    expect(page.get_by_role("button", name="Head 1")).to_be_focused()
    page.goto(f"{app_url}/build?open=m:blocks.1/m:blocks.1.attention.out/n:input:3:17")
    page.get_by_role("button", name="Open it").click()  # 17 is the second feature of head 1
    expect(page.locator(CARDS).nth(2).get_by_role("heading")).to_have_text("Head 1")
    expect(page).to_have_url(re.compile(r"h.*1.*1.*n.*output.*3.*1"))


def test_every_change_of_a_setting_is_drawn(page, app_url):
    """Also the second, of another kind, and of a network without layers."""
    open_page(page, app_url)
    whole = page.locator(CARDS).first
    layers = page.get_by_role("slider", name="Layers")
    for count in (3, 4, 5):
        layers.press("ArrowRight")
        expect(whole).to_contain_text(f"{count} layers")
    for kind, box in (("ViT", "Patches"), ("Smallest", "Attention"), ("Decoder", "Logits")):
        page.get_by_role("combobox", name="Kind").click()
        page.get_by_role("option", name=kind, exact=True).click()
        expect(whole).to_contain_text(box)
        expect(page.locator(CARDS)).to_have_count(4)
        expect(page.locator(CARDS).nth(2)).to_contain_text("Head 0")


def test_what_a_smaller_network_lacks_is_said_and_closes(page, app_url):
    open_page(page, app_url, "open=m:blocks.1/h:1:0/n:scores:5:3")
    page.get_by_role("slider", name="Layers").press("ArrowLeft")
    expect(page.locator(CARDS).nth(1)).to_contain_text("has no module")
    expect(page.locator(CARDS)).to_have_count(2)
    page.get_by_role("button", name="Close this box").click()
    expect(page.locator(CARDS)).to_have_count(1)


def test_positions_follow_their_length_and_base(page, app_url):
    page.goto(f"{app_url}/positions?scheme=rotary&length=32")
    card = page.locator(CARDS).nth(1)
    expect(card).to_contain_text("32 × 16", timeout=60_000)
    card.get_by_role("slider", name="Positions").press("ArrowRight")
    expect(card).to_contain_text("64 × 16")
    expect(card.get_by_role("img", name="The angle of each pair")).to_be_visible()


def test_a_token_is_followed_up_the_stream(page, app_url):
    open_page(page, app_url)
    follow = page.get_by_role("region", name="Follow a token up the stream")
    follow.get_by_role("combobox").select_option(index=3)
    expect(follow).to_contain_text("token embedding adds a vector of length")
    follow.get_by_role("button", name="The next part").click()
    expect(follow).to_contain_text("positions adds a vector")


def test_the_picture_is_saved_and_shows_the_code_that_runs(page, app_url):
    open_page(page, app_url)
    page.get_by_role("button", name="Code").nth(2).click()
    expect(page.get_by_text("models/attention/multihead.py, line")).to_be_visible()
    with page.expect_download() as saved:
        page.get_by_role("button", name="SVG: Save the picture").click()
    text = saved.value.path().read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "weights · values" in text
    assert text.count("<image") > 8
    assert ">Code<" not in text
    assert text.count("<path") == page.locator(".hs-build-funnel").count()


def test_a_model_of_explore_opens_in_the_same_picture(page, app_url):
    page.goto(f"{app_url}/?lab=about")
    button = page.get_by_role("button", name="What is in it")
    expect(button).to_be_visible(timeout=60_000)
    button.click()
    dialog = page.get_by_role("dialog", name="What is in this network")
    expect(dialog).to_contain_text("6 layers")
    expect(dialog.locator(CARDS)).to_have_count(4)


def test_a_chart_saves_itself_and_its_numbers(page: Page, app_url: str):
    """Nothing offers to send it away."""
    page.goto(f"{app_url}/build")
    rest(page)
    page.get_by_text("The waves of its positions").click()
    waves = page.locator(".js-plotly-plot").first
    expect(waves.locator(".scatterlayer .trace").first).to_be_visible()
    waves.hover()
    with page.expect_download() as saved:
        waves.locator(".modebar-btn[data-title^='Download plot']").click()
    assert saved.value.path().read_bytes().startswith(b"<svg")
    assert waves.locator("[data-title*='hare']").count() == 0
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the numbers").click()
    first, second, *_ = saved.value.path().read_text().splitlines()
    assert first.startswith("position,feature 0,feature 4")
    assert second == "0,0,0,0,0,0"

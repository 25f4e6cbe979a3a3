"""The probe of the browser benchmark: what it waits for, and what it holds."""

import pytest
from playwright.sync_api import Page

from benchmarks.chrome import PAINTED, PROBE, to_picture, wait_for

pytestmark = pytest.mark.browser
HOST = "http://127.0.0.1:8501"
PICTURE = """
<main data-testid="stMain"><style>p { color: red }</style><p hidden>not yet</p><p>Words</p></main>
<div id="host"></div>
<script>
  const root = document.querySelector("#host").attachShadow({ mode: "open" });
  root.innerHTML = '<div data-painted="1" data-head="0"><i></i></div>';
  const picture = root.firstChild;
  const steps = [
    () => { picture.dataset.painted = 2; },
    () => { picture.dataset.head = 1; picture.firstChild.className = "hs-dim"; },
    () => { picture.dataset.painted = 3; picture.firstChild.className = ""; },
  ];
  root.firstChild.tabIndex = 0;
  root.firstChild.focus();
  onkeydown = () => steps.forEach((step, index) => setTimeout(step, 100 * (index + 1)));
</script>
"""


def test_the_probe_waits_for_the_new_picture(page: Page) -> None:
    page.add_init_script(path=PROBE)
    page.route(HOST, lambda route: route.fulfill(body=PICTURE, content_type="text/html"))
    page.goto(HOST)
    assert wait_for(page, "probe.text", "the text")["words"] == "Words"
    assert wait_for(page, PAINTED, "the picture")["at"] > 0
    # neither the old head painted again (100 ms) nor the new one still dim (200 ms) counts
    assert to_picture(page, lambda: page.keyboard.press("a")) >= 290


LESSON = """
<main data-testid="stMain"><div class="story" data-ready><p>1</p><input type="range"></div></main>
<script>
  const shown = document.querySelector("p");
  document.querySelector("input").oninput = async () => {
    shown.textContent = "…";
    await fetch("/api/figure/one");
    setTimeout(() => (shown.textContent = "2"), 50);
  };
</script>
"""


def test_a_lesson_is_waited_for_until_its_numbers_are_drawn(page: Page) -> None:
    page.add_init_script(path=PROBE)
    page.add_init_script("probe.drawn = true")
    page.route(HOST, lambda route: route.fulfill(body=LESSON, content_type="text/html"))
    page.route("**/api/figure/one", lambda route: route.fulfill(body="{}"))
    page.goto(HOST)
    wait_for(page, PAINTED, "the figure")
    slide = "range => range.dispatchEvent(new Event('input', { bubbles: true }))"
    # neither the sign that something is computed nor the answer counts, before it is drawn
    assert to_picture(page, lambda: page.locator("input").evaluate(slide)) >= 50

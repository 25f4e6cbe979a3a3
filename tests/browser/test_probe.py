"""The probe of the browser benchmark: what it waits for, and what it holds."""

import pytest
from playwright.sync_api import Page

from benchmarks import visits
from benchmarks.chrome import PROBE, wait_for

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
  root.firstChild.onkeydown = () => {
    const end = performance.now() + 5;
    while (performance.now() < end);
  };
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
    assert wait_for(page, "probe.picture", "the picture")["at"] > 0
    found = visits.press(page, "a")
    # neither the old head painted again (100 ms) nor the new one still dim (200 ms) counts
    assert found is not None
    assert found["ms"] >= 290
    assert found["handler"] >= 5
    assert not found["fetched"]

"""The static site of a run, from a plain web server: heads, addresses, and the search by tokens."""

import functools
import re
import threading
from collections.abc import Generator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Page, expect

from viz.api import corpus
from viz.api.runs import FINISHED
from viz.corpus_site import write_site

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture(scope="module")
def site_url(tmp_path_factory: pytest.TempPathFactory) -> Generator[str, None, None]:
    out = tmp_path_factory.mktemp("web") / "site"
    write_site(FINISHED / "minilm", out)
    (out / "favicon.ico").touch()  # which a browser asks any server for
    handler = functools.partial(Quiet, directory=str(out))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def test_a_site_shows_heads_and_finds_them(page: Page, site_url: str) -> None:
    entry = corpus.hold(FINISHED / "minilm").value
    name = page.locator(".hs-corpus-name")
    page.goto(f"{site_url}?layer=3&head=5")
    expect(name).to_have_text("Layer 3 · head 5")
    sentence = corpus.head(entry, 3, 5)["sentence"]
    expect(page.locator(".hs-corpus-sentence")).to_have_text(sentence)
    page.get_by_role("button", name="Next head").click()
    page.wait_for_url(re.compile("layer=3.*head=6"))
    page.reload()
    expect(name).to_have_text("Layer 3 · head 6")

    page.get_by_text("Find heads by tokens").click()
    page.get_by_role("searchbox", name="Tokens attended to").fill("commas")
    rows = page.locator(".hs-by-token .hs-finder-row")
    wanted = corpus.attending(entry, "commas")["heads"]
    expect(rows).to_have_count(len(wanted))
    names = [f"layer {each['site']} · head {each['head']}" for each in wanted]
    assert [row.locator("span").first.inner_text() for row in rows.all()] == names

"""The static site of a run, from a plain web server: heads and addresses."""

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


def test_a_site_shows_heads_at_their_addresses(page: Page, site_url: str) -> None:
    entry = corpus.hold(FINISHED / "minilm").value
    name = page.locator(".hs-corpus-name")
    page.goto(f"{site_url}?layer=3&head=5")
    expect(name).to_have_text("Layer 3 · head 5")
    sentence = corpus.head(entry, 3, 5).sentence or ""
    expect(page.locator(".hs-corpus-sentence")).to_have_text(sentence)
    page.get_by_role("button", name="Next head").click()
    page.wait_for_url(re.compile("layer=3.*head=6"))
    page.reload()
    expect(name).to_have_text("Layer 3 · head 6")
    expect(page.get_by_text("Find heads by tokens")).to_have_count(0)  # needs the app

"""First view and one change of 12 layers of 12 heads, beside BertViz and CircuitsVis.

    python -m benchmarks.pages [--tokens 32 128 512 2048] [--changes 5] [--peers 512]

Ours: a network with random weights, opened in a running app; seconds from the request of the page
to the painted picture, the forward pass included; MiB of data, files of the page aside. A change is
another head, from the key to the painted picture.
Theirs: the page that `model_view` and `attention_heads` make of random weights of the same shape,
opened from a file in the same browser; seconds in Python, then until its first picture is
there, if it comes within 60. It holds every weight, so that a change loads nothing. Their packages,
and the libraries that BertViz loads from a public server, lie in a folder of the user's cache; what
fills it is said where it is empty.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Browser, Error, Route

from benchmarks import chrome, servers
from benchmarks.browser import ATLAS, RIGHT, VIEWS, Case
from benchmarks.chrome import PAINTED, Traffic, fresh_page, to_picture, wait_for
from benchmarks.measure import Aim, Spread, Table, command

LAYERS, HEADS = 12, 12
HOME = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "headscope-benchmarks"
HOW_TO_FILL = f"""{HOME} is not there. What fills it:
pip install --target {HOME} --no-deps bertviz==1.4.1 circuitsvis==1.43.3
pip install --target {HOME} ipython importlib-metadata
npm pack --pack-destination {HOME} d3@5.7.0 jquery@2.2.4 requirejs@2.3.6"""
LIBRARIES = {  # by what the address of the public server contains: archive, and file in it
    "d3": ("d3-5.7.0.tgz", "package/dist/d3.min.js"),
    "jquery": ("jquery-2.2.4.tgz", "package/dist/jquery.min.js"),
    "require": ("requirejs-2.3.6.tgz", "package/require.js"),
}
PAGE = """
import sys, time, torch
tool, layers, heads, tokens, file = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
torch.manual_seed(0)
weights = [torch.softmax(3 * torch.randn(1, heads, tokens, tokens), -1) for _ in range(layers)]
labels = [f"token{place}" for place in range(tokens)]
began = time.perf_counter()
if tool == "BertViz":
    from bertviz import model_view
    page = model_view(weights, labels, html_action="return").data
else:
    from circuitsvis.attention import attention_heads
    page = attention_heads(torch.cat(weights).flatten(0, 1), labels).local_src
with open(file, "w", encoding="utf-8") as out:
    out.write(f"<!doctype html><meta charset=utf-8><body>{page}")
print(time.perf_counter() - began)
"""
PICTURES = {"BertViz": "svg line", "CircuitsVis": "canvas"}  # what a page is waited for
PICTURE_SECONDS, MAKE_SECONDS = 60, 240


@command
def main(
    tokens: tuple[int, ...] = (32, 128, 512, 2048), changes: int = 5, peers: int = 512
) -> Iterator[object]:
    *_, (link, _) = VIEWS.values()
    rows: list[list[object]] = []
    with tempfile.TemporaryDirectory() as name, chrome.launched() as browser:
        with servers.served() as server:
            for visit, count in enumerate((8, *tokens)):  # the first one imports libraries
                address = Case("", ATLAS, RIGHT, link).address(server.url, count, visit)
                seen = ours(browser, address, changes)
                rows.append([f"{count}: Headscope", None, *seen])
                if count == 512:
                    yield Aim("first view at 512 tokens, MiB", seen[1], 1.0)
        for tool in PICTURES:
            for count in tokens:
                if count <= peers:
                    made, shown, size = theirs(browser, Path(name) / "page.html", tool, count)
                    rows.append([f"{count}: {tool}", made, shown, size, None, None])
    head = ["12 × 12 heads, tokens", "made, s", "first view, s", "MiB", "a change, ms", "MiB"]
    yield Table(head, rows[1:])


def ours(browser: Browser, address: str, changes: int) -> tuple[float, ...]:
    """Seconds and MiB of the first view, milliseconds and MiB of another head."""
    with fresh_page(browser, lazy=True) as page:
        heard, began = Traffic(page), time.time()
        page.goto(address, wait_until="commit")
        painted = wait_for(page, PAINTED, "the first picture")["at"]
        heard.wait_until_quiet()
        page.locator(ATLAS).first.focus()
        first, pressed = heard.kib("data", 0, painted), time.time()
        times = [to_picture(page, lambda: RIGHT(page, 0)) for _ in range(changes)]
        change = heard.kib("data", pressed) / changes
        return painted - began, first / 1024, Spread(times).median, change / 1024


def theirs(
    browser: Browser, file: Path, tool: str, tokens: int
) -> tuple[float | None, float | None, float | None]:
    """Seconds to make a tool's page and to its first picture, and its MiB.

    Raises:
        RuntimeError: if the tool is not there, or fails.
    """
    if not HOME.is_dir():
        raise RuntimeError(HOW_TO_FILL)
    program = [sys.executable, "-c", PAGE, tool, *map(str, (LAYERS, HEADS, tokens, file))]
    paths = os.pathsep.join([str(HOME), os.environ.get("PYTHONPATH", "")])
    try:
        done = subprocess.run(
            program,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            timeout=MAKE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return None, None, None
    if done.returncode:
        raise RuntimeError(f"{tool} failed: {done.stderr.strip().rpartition(chr(10))[2][:200]}")
    made, size = float(done.stdout.split()[-1]), file.stat().st_size / 2**20
    with fresh_page(browser) as page, suppress(Error):
        page.route("http*://**", library)
        page.set_default_timeout(1000 * PICTURE_SECONDS)
        began = time.perf_counter()
        page.goto(file.as_uri(), wait_until="commit")
        page.wait_for_selector(PICTURES[tool], state="attached")
        return made, time.perf_counter() - began, size
    return made, None, size


def library(route: Route) -> None:
    """Answers with a library that a page loads from elsewhere."""
    for name, (archive, member) in LIBRARIES.items():
        if name in route.request.url:
            with tarfile.open(HOME / archive) as packed:
                read = packed.extractfile(member)
                route.fulfill(body=read and read.read(), content_type="text/javascript")
                return
    route.abort()


if __name__ == "__main__":
    sys.exit(main())

"""Latency of pictures in a browser, and memory for many patches.

    python -m benchmarks.image [--json] [--rounds 3] [--words]

ViT-B/16 shape at 224 pixels: a picture is uploaded, the pointer moves over it, heads and layers
change, including a layer that is not prefetched yet. For comparison, a bare forward pass of the
same network in this process, on all threads.
ViT-S/8 shape at 480 pixels (3,601 tokens): peak memory above the built network for the pass, one
layer, a row and a column, in a separate process.
With --words, instead: a LLaVA-NeXT of tiny width whose picture takes five tiles of 576 tokens. From
the touch of a word of its answer to its map, each word for the first time; and 64 tokens written
with every map kept, over the same 64 tokens written alone: with logits of the answer, and of every
token, which writing alone does not make.
"""

import argparse
import functools
import io
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Error, FloatRect, Page

from benchmarks import servers
from benchmarks.chrome import SIZE, Traffic, fresh_page, launched, wait_for
from benchmarks.measure import (
    Spread,
    as_json,
    interleaved,
    machine,
    machine_line,
    ratios,
    table,
)

ROOT = Path(__file__).parents[1]
BASE: dict[str, Any] = {"size": 224, "patch": 16, "heads": 12, "dim": 768, "depth": 12}
MANY: dict[str, Any] = {"size": 480, "patch": 8, "heads": 6, "dim": 384, "depth": 12}
PROBE = Path(__file__).with_name("image_probe.js")
AIMS = {
    "hover, ms p95": 16.0,
    "head, ms p95": 16.0,
    "layer, ms p50": 80.0,
    "fetched layer, ms p50": 35.0,
    "fetched layer, ms p95": 60.0,
    "layer, bytes": 400_000,
    "memory, MiB": 1024.0,
}
FETCHED = """performance.getEntriesByType("resource")
  .filter(({ name }) => /\\/layer\\?/.test(name)).map(({ duration }) => duration)"""
HOVERS = 40
HEADER = 60  # CSS pixels of the bar that lies over the page's top
SMALL = 50_000  # bytes of a message that holds no layer
MIB = 2**20


def main(arguments: list[str] | None = None) -> int:
    """Measure and print. Returns the exit status."""
    options = parse(arguments)
    if options.memory:
        print(json.dumps({"mib": memory_of_many() / MIB}))
        return 0
    try:
        if options.words:
            report = words_measured(options.rounds)
        else:
            with launched() as browser:
                report = measured(browser, options.rounds)
    except (RuntimeError, Error) as error:
        print(f"benchmarks.image: {error}", file=sys.stderr)
        return 1
    as_text = words_text if options.words else text
    print(as_json(report) if options.json else as_text(report))
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Pictures in a real browser.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--rounds", type=int, default=3, help="visits of the page")
    parser.add_argument("--words", action="store_true", help="words on a picture of 2,880 tokens")
    parser.add_argument("--memory", action="store_true", help="only the memory, in this process")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"--rounds: expected 1 or more, received {options.rounds}")
    return options


def measured(browser: Browser, rounds: int) -> dict[str, Any]:
    """Everything, visit by visit; the bare forward pass is timed between the visits."""
    samples: dict[str, list[float]] = {name: [] for name in ("drop", "bare", "over")}
    samples |= {name: [] for name in ("hover", "head", "layer", "far", "fetched", "bytes")}
    bare = bare_forward()
    port = servers.free_port()
    with servers.running(*servers.app(port), port) as server:
        for number in range(rounds):
            seconds = min(bare() for _ in range(3))
            with fresh_page(browser) as page:
                visit = visited(page, server.url, number)
            for name, values in visit.items():
                samples[name] += values
            samples["bare"].append(seconds)
            samples["over"].append(visit["drop"][0] - (1.5 * seconds + 0.5))
    return {
        "benchmark": "image",
        "machine": {
            **machine(("streamlit", "torch", "playwright")),
            "browser": f"Chromium {browser.version}",
        },
        "aims": AIMS,
        **{name: Spread.of(values) for name, values in samples.items()},
        "memory": in_fresh_process(),
    }


def visited(page: Page, url: str, number: int) -> dict[str, list[float]]:
    """One visit: seconds of a drop; milliseconds of hovers, heads, layers and requests; bytes."""
    query = "&".join(f"{name}={value}" for name, value in BASE.items())
    page.add_init_script(path=PROBE)
    page.goto(f"{url}/?model=built-vit&{query}", wait_until="commit")
    wait_for(page, "imageProbe.ready()", "the first picture")
    page.locator(".hs-body").focus()
    far = pressed(page, "ArrowDown", "site", after_ms=0)
    with Traffic.of(page) as heard:
        heard.wait_until_quiet(page)
        drop = dropped(page, number)
        painted = time.time()
        heard.wait_until_quiet(page)
    sizes = [float(size) for at, kind, size in heard.events if at > painted and size > SMALL]
    show_picture(page)
    hover = [hovered(page, place) for place in range(HOVERS)][3:]
    page.mouse.move(2, 2)
    page.get_by_role("radio", checked=True).focus()
    head = [pressed(page, "ArrowRight", "head") for _ in range(10)][1:]
    page.get_by_role("button", name="Previous layer").focus()
    layer = [pressed(page, "Enter", "site") for _ in range(BASE["depth"] - 1)]
    fetched = page.evaluate(FETCHED)
    times = {"hover": hover, "head": head, "layer": layer, "far": [far], "fetched": fetched}
    return {"drop": [drop], "bytes": sizes, **times}


def dropped(page: Page, number: int) -> float:
    """Seconds from the moment the browser has another file to its picture."""
    page.evaluate("imageProbe.watch('trace')")
    chooser = page.locator("input[type=file]")
    chooser.evaluate("chooser => imageProbe.hear(chooser)")
    chooser.set_input_files(picture(number))
    return float(wait_for(page, "imageProbe.seen.trace[1]", "the dropped picture")) / 1000


def show_picture(page: Page) -> FloatRect:
    """Brings the picture into the window, where it may slip out of again while the page settles.

    Raises:
        RuntimeError: if it does not stay there.
    """
    photo, tries = page.locator(".hs-photo"), 50
    for _ in range(tries):
        box = photo.bounding_box()
        if box and box["y"] > HEADER and box["y"] + box["height"] < SIZE["height"]:
            return box
        photo.evaluate("element => element.scrollIntoView({block: 'center'})")
        page.wait_for_timeout(100)
    raise RuntimeError("the picture does not stay in the window")


def hovered(page: Page, place: int) -> float:
    """Milliseconds from one move of the pointer to the picture that shows it."""
    box = show_picture(page)
    page.evaluate("imageProbe.watch('token')")
    across, down = (place * 5 + 0.5) % 14, (place * 3 + 0.5) % 14
    page.mouse.move(box["x"] + across * box["width"] / 14, box["y"] + down * box["height"] / 14)
    return float(wait_for(page, "imageProbe.seen.token[1]", "the patch under the pointer"))


def pressed(page: Page, key: str, what: str, *, after_ms: int = 350) -> float:
    """Milliseconds from a key press to the picture that follows it."""
    page.wait_for_timeout(after_ms)
    page.evaluate(f"imageProbe.watch('{what}')")
    page.keyboard.press(key)
    return float(wait_for(page, f"imageProbe.seen.{what}[1]", f"another {what}"))


def picture(number: int) -> Any:
    """A file that was never dropped before."""
    file = io.BytesIO()
    pixels = np.random.default_rng(number).integers(0, 255, (300, 400, 3), np.uint8)
    Image.fromarray(pixels).resize((800, 600)).save(file, "JPEG")
    return {"name": f"{number}.jpg", "mimeType": "image/jpeg", "buffer": file.getvalue()}


def config_of(size: int, **sizes: Any) -> Any:
    """The config of a network of these sizes, as the page builds it."""
    from models.vit import ViTConfig

    fields: dict[str, Any] = {"image": size, "mlp": 4 * sizes["dim"], **sizes}
    return ViTConfig(**fields)


def bare_forward() -> Any:
    """A function that runs the network once and says how many seconds it took."""
    import torch

    from models.vit import ViT

    network = ViT(config_of(**BASE)).eval()
    pixels = torch.randn(1, 3, BASE["size"], BASE["size"])

    def run() -> float:
        with torch.inference_mode():
            start = time.perf_counter()
            network(pixels)
            return time.perf_counter() - start

    run()
    return run


def memory_of_many() -> int:
    """Bytes the peak rises above the built network while its picture is explored."""

    from benchmarks.memory import rise_of
    from models.run import load, trace
    from viz.api import image as api
    from viz.api.entries import Patches, TraceEntry
    from viz.pack import Picture

    config = config_of(**MANY)
    model = load(config)
    image = Image.fromarray(np.random.default_rng(0).integers(0, 255, (480, 480, 3), np.uint8))
    small = config_of(size=32, patch=8, dim=16, heads=2, depth=1)
    trace(load(small), image)

    def explored() -> list[bytes]:
        t = trace(model, image)
        cut = Patches(Picture(b"", ""), config.patch)
        entry = TraceEntry(t, lambda *_: "", patches=cut)
        layers = [api.layer_of(entry, site) for site in (0, 5)]
        return [
            *layers,
            api.heads_of(entry, 0, "query", 7),
            api.heads_of(entry, 5, "key", 7),
        ]

    return rise_of(explored)


def in_fresh_process() -> float:
    """MiB, measured in a new process."""
    command = [sys.executable, "-m", "benchmarks.image", "--memory"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    if ran.returncode:
        raise RuntimeError(f"measuring the memory failed:\n{ran.stderr.strip()}")
    return float(json.loads(ran.stdout.splitlines()[-1])["mib"])


def text(report: dict[str, Any]) -> str:
    """The report as a table, with what was aimed for."""
    rows = [
        ["dropped → picture, s", report["drop"].text(), "", "≤ 1.5 × bare + 0.5"],
        ["bare forward pass, s", report["bare"].text(), "", ""],
        ["hover → picture, ms", *_ms(report["hover"]), "p95 ≤ 16"],
        ["head → picture, ms", *_ms(report["head"]), "p95 ≤ 16"],
        ["next layer → picture, ms", *_ms(report["layer"]), "p50 ≤ 80"],
        ["layer not sent ahead, ms", *_ms(report["far"]), ""],
        ["layer, request → response, ms", *_ms(report["fetched"]), "p50 ≤ 35, p95 ≤ 60"],
        ["a layer, kB received", f"{report['bytes'].median / 1000:.0f}", "", "≤ 400"],
        ["3,601 tokens, MiB", f"{report['memory']:.0f}", "", "≤ 1024"],
    ]
    late = report["over"].median
    verdict = "met" if late <= 0 else f"MISSED by {late:.2f} s"
    head = ("ViT-B/16 at 224 pixels", "median (p10–p90)", "p95", "aim")
    return f"{machine_line(report['machine'])}\n\n{table(head, rows)}\ndropped: {verdict}"


TILE, PATCH = 96, 4  # pixels: 24 × 24 tokens a tile
WRITTEN = 64
WORDS_AIMS = {"touch → picture, ms p95": 100.0, "written with maps / written": 1.1}
# Milliseconds from a click on a word to the frame after its map has been drawn.
TOUCH = """index => new Promise(done => {
  const { prototype } = OffscreenCanvasRenderingContext2D;
  const draw = (window.drawMap ??= prototype.putImageData);
  const began = performance.now();
  prototype.putImageData = function (cells, ...at) {
    draw.call(this, cells, ...at);
    if (cells.width !== GRID) return;
    prototype.putImageData = draw;
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  };
  document.querySelectorAll(".hs-words > [role=radio]")[index].click();
})""".replace("GRID", str(2 * TILE // PATCH))


def words_measured(rounds: int) -> dict[str, Any]:
    """Touches of words in a browser, and writing with and without a trace."""
    from models.inputs.answers import add_answer
    from models.inputs.prompt import Prompt, read_prompt
    from models.request import Question, Source, TraceRequest, file_of
    from models.run import trace
    from tests.models.vision_language import WORDS, photo
    from viz.api import tracing

    image, file = photo(2 * TILE, 2 * TILE), io.BytesIO()
    image.save(file, "PNG")
    with tempfile.TemporaryDirectory() as folder:
        source = tracing.stamped(Source("folder", str(_llava_next().save(Path(folder)))))
        question = Question("what is it", (file_of(file.getvalue(), "photo.png"),))
        model = tracing.opened(source)
        prompt = Prompt(question.text, (image,), most_written=WRITTEN)

        def written() -> None:
            add_answer(model, dict(read_prompt(model, prompt).arguments), None, WRITTEN)

        maps = functools.partial(trace, model, prompt)
        fewer = functools.partial(maps, logits_to_keep=WRITTEN + 1)
        cases = {"maps": fewer, "traced": maps, "written": written}
        seconds = interleaved(cases, 2 * rounds)
        held = tracing.entry_for(TraceRequest(source, question, " ".join((WORDS * 3)[:40])))
        touched = words_touched(held.value)
    places = {int(place) for grid in _grids(held.value.trace) for place in grid.places.flatten()}
    return {
        "benchmark": "image --words",
        "machine": machine(("torch", "transformers", "playwright")),
        "aims": WORDS_AIMS,
        "tokens": len(places),
        "touch": Spread.of(touched),
        "maps": Spread.of(ratios(seconds["maps"], seconds["written"])),
        "traced": Spread.of(ratios(seconds["traced"], seconds["written"])),
        "written": Spread.of(seconds["written"]),
    }


def words_touched(entry: Any) -> list[float]:
    """Milliseconds from the touch of a word to its map, each for the first time."""
    from tests.browser.views import View, hosting
    from viz.api.requests import parse_query
    from viz.routes import ENDPOINTS

    class Source:
        trace = "t1"

        def answer(self, route: str, query: dict[str, str]) -> Any:
            endpoint = next(e for e in ENDPOINTS if e.name == route and e.applies(entry))
            asked = parse_query(list(query.items()), endpoint.required, endpoint.optional)
            return endpoint.answer(entry, **asked)

    start = {"layer": 0, "head": 1, "attention": "causal", "tower": "language"}
    defaults = {"layer": 0, "attention": "self", "head": 0, "token": None, "direction": "out"}
    props = {"kind": "text", "defaults": {**defaults, "scale": "fixed"}, "revision": "r.1"}
    props |= {"page": "text", "start": start, "path": ["/text"], "link": {}}
    with launched() as browser, fresh_page(browser) as page, hosting() as host:
        View(page, host.server(), Source(), props, "/text")
        words = page.locator(".hs-words > [role=radio]")
        words.first.click()
        page.wait_for_selector(".hs-pictures figcaption:has-text('colours up to')")
        with Traffic.of(page) as heard:
            heard.wait_until_quiet(page)
            touched = [page.evaluate(TOUCH, index) for index in range(1, words.count())]
            heard.wait_until_quiet(
                page
            )  # a thread that still computes must not outlive the process
        return touched


def _grids(t: Any) -> Any:
    from analysis.grounding import sites_on_pictures

    return t.key_pictures(sites_on_pictures(t)[0])


def _llava_next() -> Any:
    """A LLaVA-NeXT that cuts a picture into four tiles beside the whole, of 576 tokens each."""
    from dataclasses import replace

    from tests.models.vision_language import BY_NAME

    family = BY_NAME["LLaVA-NeXT"]
    square = {"height": TILE, "width": TILE}
    tiles = {"image_grid_pinpoints": [[2 * TILE, 2 * TILE]]}
    sizes = {**family.sizes, **tiles}
    sizes["vision_config"] = {**sizes["vision_config"], "image_size": TILE, "patch_size": PATCH}
    sizes["text_config"] = {**sizes["text_config"], "max_position_embeddings": 4096}
    shapes = {"size": {"shortest_edge": TILE}, "crop_size": square}
    return replace(family, sizes=sizes, pictures={**family.pictures, **tiles, **shapes})


def words_text(report: dict[str, Any]) -> str:
    """The report as a table, with what was aimed for."""
    rows = [
        ["touch → picture, ms", *_ms(report["touch"]), "p95 ≤ 100"],
        ["64 tokens written with maps / written", report["maps"].text(), "", "≤ 1.1"],
        ["the same, with logits of every token", report["traced"].text(), "", ""],
        ["64 tokens written, s", report["written"].text(), "", ""],
    ]
    head = (f"{report['tokens']:,} image tokens", "median (p10–p90)", "p95", "aim")
    return f"{machine_line(report['machine'])}\n\n{table(head, rows)}"


def _ms(spread: Spread) -> tuple[str, str]:
    return spread.text(1), f"{spread.p95:.1f}"


if __name__ == "__main__":
    sys.exit(main())

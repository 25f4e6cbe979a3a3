"""What the program answers: recorded from one commit, compared with another.

    python -m benchmarks.reference record [--to .cache/reference] [--only links|answers]
    python -m benchmarks.reference compare .cache/reference .cache/now [--known known.json]

An answer is a file of numbers that `headscope` writes of a view, for a model and an input. A link
is opened in a browser: its numbers, saved from the page; its caption, of the figure that is saved;
and the selection that it opens to, which is the address as the page writes it and the coordinates
in the numbers. Pages without numbers give their headings.

To record an earlier commit, check it out beside this one and run there the version of this file
that knows its page. The models are those of `python -m models.fetch smollm2 dinov2 whisper
translate`.

`--known` names a JSON file of what is to differ: `renamed` maps an old name of an array or a
parameter to its new one, `different` maps an answer, or `answer:array`, to the reason, and `gone`
lists parameters that no longer exist.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from playwright.sync_api import Page

import headscope as hs
from analysis.methods import METHODS
from benchmarks import servers
from benchmarks.chrome import fresh_page, launched
from benchmarks.servers import ROOT
from viz.views import FORM

WAIT_MS = 180_000
STAY_MS, MOST_LOOKS = 2_500, 20  # between two looks at a page that is to be at rest
RTOL, ATOL = 1e-3, 2e-5  # of float32 sums in another order, through thirty layers
ALONE = ("version",)  # arrays that no comparison reads

ANIMAL = "The animal didn't cross the street because it was too tired."
MARY = "When Mary and John went to the store, John gave a drink to"
KEYS = "The keys to the cabinet are on the table."
CAT = "The cat sat on the black chair because it was tired."
HIDDEN = {"hidden": True}
SIZES: dict[str, Any] = {"heads": 4, "dim": 32, "depth": 2}
EDITS: dict[str, Any] = {
    "ablate": hs.Ablate(3, 1),
    "mean": hs.Ablate(3, 1, "mean"),
    "mlp": hs.AblateMLP(2),
    "cut": hs.Cut(2, None, 4, 0),
    "warm": hs.Temperature(0.5, layer=2),
    "set": hs.SetWeights(1, 2, query=4, key=0, value=0.5),
    "used": hs.UsePattern(1, 3, "uniform"),
}
HOW: dict[str, list[dict[str, Any]]] = {  # each view is asked for once, but these
    "matrix": [{}, {"values": "scores"}, {"sinks": "hidden"}],
    "model": [{"method": method.name} for method in METHODS],
    "faithfulness": [{"method": "gradient"}],
}
LONG = 100  # tokens from which on one head's rows are written, and no view of every head


def file(name: str) -> Path:
    """An example file of the app, wherever it lies."""
    return next(path for path in sorted(ROOT.rglob(name)) if ".venv" not in path.parts)


def cases() -> dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    """Model, inputs and options of the trace, by name."""
    built = hs.EncoderConfig(**SIZES), hs.DecoderConfig(**SIZES)
    return {
        "minilm": ("minilm", (ANIMAL,), HIDDEN),
        **{f"minilm-{name}": ("minilm", (KEYS,), {"edits": [e]}) for name, e in EDITS.items()},
        "smollm2": ("smollm2", (MARY,), HIDDEN),
        "smollm2-ablate": ("smollm2", (MARY,), {"edits": [hs.Ablate(23, 0)]}),
        "dinov2": ("dinov2", (file("flower.jpg"),), HIDDEN),
        "whisper": ("whisper", (file("animal.wav"),), {}),
        "translate": ("translate", (CAT,), {}),
        "dates": ("dates", ("4/11/2031",), {}),
        "reverse": ("reverse", ("stream",), {}),
        "induction": ("induction", ("junk dream vow junk",), {}),
        "grammar": ("grammar", ("the keys near the cabinet [MASK] dusty .",), {}),
        "grammar-next": ("grammar-next", ("the keys near the cabinet",), HIDDEN),
        "digits": ("digits", (file("a-three.png"),), {}),
        "shapes": ("shapes", (file("a-disc.png"),), {}),
        "objects": ("objects", (file("a-star.png"),), {}),
        "built encoder": (built[0], (ANIMAL,), {}),
        "built decoder": (built[1], (ANIMAL,), {}),
        "built seq2seq": (hs.Seq2SeqConfig(**SIZES), (ANIMAL, "a target of its own"), {}),
    }


def answers(folder: Path) -> None:
    """Writes every view of every case; one that a case does not have leaves its message."""
    for case, (name, inputs, options) in cases().items():
        print(case, file=sys.stderr)
        model = load(name)
        t = hs.trace(model, *inputs, **options)
        long = max(site.queries for site in t.sites) > LONG
        shared = {"run": (model, *inputs)} | ({"picture": inputs[0]} if t.grid else {})
        for view, form in FORM.items():
            if long and form.covers == "every":
                continue
            place = {"layer": t.sites[-1], "head": 0} if form.covers != "every" else {}
            rows = {"rows": range(40)} if long and "rows" in form.options else {}
            for how in HOW.get(view, [{}]):
                path = folder / f"{', '.join([case, view, *how.values()])}.npz"
                try:
                    hs.export(t, path, view=view, **shared, **place, **rows, **how)
                except (ValueError, TypeError) as error:
                    path.with_suffix(".error").write_text(f"{type(error).__name__}: {error}\n")


load = cache(hs.load)


# ---- links

MINILM = "/?model=minilm&layer=3&head=1"
LINKS = {
    "front page": "/",
    "minilm": MINILM,
    "minilm, own sentence": f"{MINILM}&input=The+trophy+does+not+fit+into+the+suitcase.",
    "minilm, lines": f"{MINILM}&form=lines",
    "minilm, text": f"{MINILM}&form=text&token=10",
    "minilm, head": f"{MINILM}&form=head&token=10&partner=2",
    "minilm, rollout": f"{MINILM}&form=model&method=rollout",
    "minilm, alti": f"{MINILM}&form=model&method=alti",
    "minilm, words": f"{MINILM}&words=yes&sinks=hidden",
    "minilm, most of any head": "/?model=minilm&layer=2&head=max&token=3&direction=in",
    "minilm, head off": f"{MINILM}&edits=Ablate(3, 1)",
    "minilm, edits": f"{MINILM}&edits=Cut(2, None, 4, 0), AblateMLP(2)",
    "minilm, table": f"{MINILM}&overview=table",
    "smollm2": "/?model=smollm2&layer=23&head=0",
    "smollm2, lens": "/?model=smollm2&layer=23&head=0&form=lens",
    "smollm2, parts": "/?model=smollm2&layer=23&head=0&form=parts",
    "smollm2, own text": "/?model=smollm2&layer=18&head=6&input=one+two+three+one+two",
    "smollm2, head off": "/?model=smollm2&layer=24&head=4&edits=Ablate(24, 4)",
    "dinov2": "/?model=dinov2&layer=8&head=2&token=700",
    "dinov2, rollout": "/?model=dinov2&layer=8&head=2&form=model&method=rollout",
    "dinov2, features": "/?model=dinov2&layer=8&head=2&form=features",
    "whisper": "/?model=whisper&layer=2&head=5&kind=cross",
    "translate": "/?model=translate&layer=1&head=0&kind=cross",
    "dates": "/?model=dates&layer=0&head=2&kind=cross",
    "digits": "/?model=digits&layer=2&head=1",
    "grammar": "/?model=grammar&layer=1&head=0",
    "built": "/?model=built&dim=16&heads=2&depth=3&layer=1&head=0",
    "built ViT": "/?model=built-vit&size=64&heads=2&dim=16&depth=3&layer=1&head=0",
    "heads": "/corpus?run=minilm",
    "lesson": "/position?story=3",
    "course": "/course",
    "positions": "/positions?scheme=rotary",
    "architecture": "/architecture?preset=small",
}


def links(folder: Path) -> None:
    """Opens every link and writes what it opens to."""
    with servers.served(PUBLIC="0") as server, launched() as browser:
        for name, link in LINKS.items():
            print(link, file=sys.stderr)
            with fresh_page(browser) as page:
                page.set_default_timeout(WAIT_MS)
                page.goto(server.url + link)
                answer = of_page(page, folder / f"link {name}.npz", link)
            path = folder / f"link {name}.json"
            path.write_text(json.dumps(answer, indent=1, ensure_ascii=False) + "\n", "utf-8")


def of_page(page: Page, numbers: Path, link: str) -> dict[str, Any]:
    """What a page shows; saves its numbers where it has some."""
    page.wait_for_load_state("networkidle")
    explores = urlsplit(link).path == "/"
    if explores:
        page.locator(".hs-lab-bar").get_by_text("Save", exact=True).click()
        rest(page)
        save(page, "NPZ", numbers)
        figure = save(page, "SVG", numbers.with_suffix(".svg")).read_text("utf-8")
        words = {"caption": caption_of(figure)}
    else:
        page.get_by_role("heading").first.wait_for()
        rest(page)
        words = {"headings": page.get_by_role("heading").all_inner_texts()}
    return {"selection": dict(parse_qsl(urlsplit(page.url).query)), **words}


def rest(page: Page) -> None:
    """Returns when nothing is computed, and address and headings have stayed for a while."""
    seen: tuple[str, list[str]] | None = None
    for _ in range(MOST_LOOKS):
        page.wait_for_function(
            "() => !document.querySelector('[aria-busy=true], [data-testid=stSkeleton]')"
        )
        page.wait_for_load_state("networkidle")
        page.wait_for_timeout(STAY_MS)
        now = page.url, page.get_by_role("heading").all_inner_texts()
        if now == seen:
            return
        seen = now


def save(page: Page, kind: str, path: Path) -> Path:
    """Saves a file of the view by its menu."""
    with page.expect_download() as download:
        page.get_by_role("region", name="Save").get_by_role("button", name=kind).first.click()
    download.value.save_as(path)
    return path


def caption_of(figure: str) -> list[str]:
    """The title and description of a figure, as its metadata say them."""
    texts = re.findall(r"<(?:dc:)?(?:title|desc|description)[^>]*>([^<]*)<", figure)
    return [" ".join(text.split()) for text in texts]


# ---- comparing


def compare(before: Path, after: Path, known: dict[str, Any]) -> Iterator[str]:
    """A line for each answer that differs without being expected to."""
    names = {path.name for path in (*before.iterdir(), *after.iterdir()) if path.suffix != ".svg"}
    for name in sorted(names):
        if (stem := Path(name).stem) in known.get("different", {}):
            continue
        old, new = before / name, after / name
        if old.exists() and new.exists():
            yield from (f"{stem}: {each}" for each in differences(old, new, known))
        else:
            yield f"{name}: only in {(before if old.exists() else after).name}"


def differences(old: Path, new: Path, known: dict[str, Any]) -> Iterator[str]:
    """What differs between two files; a page may have more, and none of what it had may change."""
    renamed, different = known.get("renamed", {}), known.get("different", {})
    was, now = {renamed.get(name, name): value for name, value in values(old).items()}, values(new)
    apart = {*known.get("gone", []), *ALONE, *(now.keys() - was if old.suffix == ".json" else ())}
    for name in sorted((was.keys() | now.keys()) - apart):
        if f"{old.stem}:{name}" in different:
            continue
        if name not in was or name not in now:
            yield f"{name} only {'before' if name in was else 'now'}"
        elif was[name].shape != now[name].shape:
            yield f"{name}: {was[name].shape} | {now[name].shape}"
        elif was[name].dtype.kind == "f" and now[name].dtype.kind == "f":
            if not np.allclose(was[name], now[name], RTOL, ATOL, equal_nan=True):
                yield f"{name}: differs by {np.nanmax(np.abs(was[name] - now[name])):.3g}"
        elif not np.array_equal(was[name].astype(str), now[name].astype(str)):
            yield f"{name}: {str(was[name])[:200]} | {str(now[name])[:200]}"


def values(path: Path) -> dict[str, np.ndarray]:
    """What a file holds, by name."""
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays}
    text = path.read_text("utf-8")
    parts: dict[str, Any] = json.loads(text) if path.suffix == ".json" else {"error": text}
    return {name: np.array(value) for name, value in (parts.pop("selection", {}) | parts).items()}


def main(arguments: list[str] | None = None) -> int:
    """Records or compares. Returns the exit status."""
    parser = argparse.ArgumentParser(description="Record what the program answers, and compare.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    recorder = verbs.add_parser("record")
    recorder.add_argument("--to", type=Path, default=ROOT / ".cache" / "reference")
    recorder.add_argument("--only", choices=("links", "answers"))
    comparer = verbs.add_parser("compare")
    comparer.add_argument("before", type=Path)
    comparer.add_argument("after", type=Path)
    comparer.add_argument("--known", type=Path)
    options = parser.parse_args(arguments)
    if options.verb == "compare":
        known = json.loads(options.known.read_text("utf-8")) if options.known else {}
        problems = [*compare(options.before, options.after, known)]
        count = len([*options.before.iterdir()])
        print("\n".join([*problems, f"{count} files compared, {len(problems)} differences"]))
        return 1 if problems else 0
    options.to.mkdir(parents=True, exist_ok=True)
    for name, record in (("answers", answers), ("links", links)):
        if options.only in (None, name):
            record(options.to)
    return 0


if __name__ == "__main__":
    sys.exit(main())

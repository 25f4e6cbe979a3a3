"""What the program answers: recorded from one commit, compared with another.

    python -m benchmarks.reference record [--to .cache/reference] [--only links|answers]
    python -m benchmarks.reference compare .cache/reference .cache/now [--known known.json]

An answer is a file of numbers that `headscope` writes for a model and an input. A link is opened in
a browser: its numbers, saved from the page; its caption, of the figure that is saved; and the
selection that it opens to, which is the address as the page writes it and the coordinates in the
numbers. Pages without numbers give their headings.

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
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from playwright.sync_api import Page

import headscope as hs
from benchmarks import servers
from benchmarks.chrome import fresh_page, launched
from benchmarks.servers import ROOT

WAIT_MS = 180_000
STAY_MS, MOST_LOOKS = 2_500, 20  # between two looks at a page that is to be at rest
RTOL, ATOL = 1e-3, 2e-5  # of float32 sums in another order, through thirty layers
ALONE = ("version",)  # arrays that no comparison reads

ANIMAL = "The animal didn't cross the street because it was too tired."
MARY = "When Mary and John went to the store, John gave a drink to"
KEYS = "The keys to the cabinet are on the table."
CAT = "The cat sat on the black chair because it was tired."
Options = dict[str, Any]


def answers(folder: Path) -> None:
    """Writes the answers of every case; one that fails leaves its message instead.

    Of a case: options of `hs.trace`, of an `hs.View` of it, and whether it has the numbers of every
    head. Of an answer: options of `hs.export`; "run" and "picture" are filled in.
    """
    last = {"last layer": {"layer": -1}}
    rollout, run = {"view": "model", "method": "rollout"}, {"run": True}
    minilm = {
        "matrix": {"layer": 3, "head": 1},
        "layer": {"layer": 3},
        "scores": {"layer": 2, "head": 0, "values": "scores"},
        "lines": {"view": "lines", "layer": 3, "head": [1, 2]},
        "sinks": {"layer": 4, "head": 5, "sinks": "hidden"},
        "atlas": {"view": "atlas"},
        "text": {"view": "text", "layer": 3, "head": 1, "token": 10},
        "head": {"view": "head", "layer": 3, "head": 1, "query": 10, "key": 2},
        "rollout": rollout,
        "flow": {"view": "model", "method": "flow", "query": 10},
        "alti": {"view": "model", "method": "alti"},
        "numbers": {"view": "numbers"},
    }
    edits = {
        "ablate": hs.Ablate(3, 1),
        "mean": hs.Ablate(3, 1, "mean"),
        "mlp": hs.AblateMLP(2),
        "cut": hs.Cut(2, None, 4, 0),
        "warm": hs.Temperature(0.5, layer=2),
        "set": hs.SetWeights(1, 2, query=4, key=0, value=0.5),
        "used": hs.UsePattern(1, 3, "uniform"),
    }
    smollm2 = {
        "matrix": {"layer": 23, "head": 0},
        "layer": {"layer": 24},
        "head": {"view": "head", "layer": 24, "head": 4, "query": 13, "key": 1},
        "lens": {"view": "lens", **run},
        "parts": {"view": "parts", **run},
        "rollout": rollout,
        "attnlrp": {"view": "model", "method": "attnlrp", **run},
    }
    dinov2 = {
        "over the picture": {"view": "image", "layer": 8, "head": 2, "token": 700, "picture": True},
        "matrix": {"layer": 11, "head": 3, "rows": range(40)},
        "rollout": rollout,
        "features": {"view": "features", "picture": True},
    }
    sound = {
        "cross": {"layer": 2, "head": 5, "kind": "cross", "columns": range(200)},
        "causal": {"layer": 1, "kind": "causal"},
    }
    translated = {
        "cross": {"layer": 1, "kind": "cross"},
        "lines": {"view": "lines", "layer": 1, "head": 0, "kind": "cross"},
        "encoder": {"layer": 5, "kind": "self"},
    }
    masked = {
        "layer": {"layer": 1},
        "gradient": {"view": "model", "method": "gradient", **run},
        "deletion": {"view": "faithfulness", "method": "attnlrp", **run},
    }
    following = {name: {"view": name, **run} for name in ("lens", "parts", "blame")}
    digits = {
        "over the picture": {"view": "image", "layer": 2, "head": 1, "token": 0, "picture": True},
        "chefer": {"view": "model", "method": "chefer", **run},
    }
    dates = {"cross": {"layer": 0, "kind": "cross"}, "atlas": {"view": "atlas"}}
    first, second = {"layer": {"layer": 1}}, {"layer": {"layer": 2}}
    sizes: Options = {"heads": 4, "dim": 32, "depth": 2}
    built = {
        "encoder": (hs.EncoderConfig(**sizes), (), "self"),
        "decoder": (hs.DecoderConfig(**sizes), (), "causal"),
        "seq2seq": (hs.Seq2SeqConfig(**sizes), ("a target of its own",), "cross"),
    }
    record = partial(write, folder)
    record("minilm", ANIMAL, minilm, {"hidden": True}, heads=True)
    record("minilm-words", ANIMAL, {"words": {"layer": 3}}, view={"words": True})

    for name, edit in edits.items():
        record(f"minilm-{name}", KEYS, last, {"edits": [edit]})
    record("smollm2", MARY, smollm2, {"hidden": True}, heads=True)
    off = {"lens": smollm2["lens"], "layer": {"layer": -1}}
    record("smollm2-ablate", MARY, off, {"hidden": True, "edits": [hs.Ablate(23, 0)]})
    record("dinov2", file("flower.jpg"), dinov2, {"hidden": True}, heads=True)
    record("whisper", file("animal.wav"), sound)
    record("translate", CAT, translated, heads=True)
    record("dates", "4/11/2031", dates, heads=True)
    record("reverse", "stream", first, heads=True)
    record("induction", "junk dream vow junk", first)
    record("grammar", "the keys near the cabinet [MASK] dusty .", masked)
    next_word = "the keys near the cabinet"
    record("grammar-next", next_word, first | following, {"hidden": True}, model="grammar-next")
    record("digits", file("a-three.png"), digits)
    record("shapes", file("a-disc.png"), second)
    record("objects", file("a-star.png"), first, heads=True)
    for name, (config, target, kind) in built.items():
        asked = {"layer": {"layer": 1, "kind": kind}}
        record(f"built {name}", (ANIMAL, *target), asked, model=config, heads=True)


def file(name: str) -> Path:
    """An example file of the app, wherever it lies."""
    return next(path for path in sorted(ROOT.rglob(name)) if ".venv" not in path.parts)


def write(
    folder: Path,
    name: str,
    asked: Any,
    answers: dict[str, Options],
    options: Options | None = None,
    *,
    view: Options | None = None,
    heads: bool = False,
    model: Any = None,
) -> None:
    """Writes the answers of a model, that of the name unless one is given, and an input."""
    print(name, file=sys.stderr)
    opened = load(model or name.partition("-")[0])
    inputs = asked if isinstance(asked, tuple) else (asked,)
    t = hs.trace(opened, *inputs, **options or {})
    view_of_trace = hs.View(t, **view) if view else t
    filled = {"run": (opened, *inputs), "picture": inputs[0]}
    for answer, given in answers.items():
        given = given | {key: each for key, each in filled.items() if key in given}
        path = folder / f"{name}, {answer}.npz"
        try:
            hs.export(view_of_trace, path, **given)
        except (ValueError, TypeError) as error:
            path.with_suffix(".error").write_text(f"{type(error).__name__}: {error}\n", "utf-8")
    if heads:
        table = hs.heads(t).to_pandas()
        columns: Any = {str(column): table[column].to_numpy() for column in table}
        for key, column in columns.items():
            columns[key] = column.astype(str) if column.dtype == object else column
        np.savez_compressed(folder / f"{name}, heads.npz", **columns)


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

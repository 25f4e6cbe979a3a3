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
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from playwright.sync_api import Download, Page

import headscope as hs
from benchmarks import servers
from benchmarks.chrome import fresh_page, launched

ROOT = Path(__file__).parents[1]
WAIT_MS = 180_000
STAY_MS, MOST_LOOKS = 2_500, 20  # between two looks at a page that is to be at rest
RTOL, ATOL = 1e-3, 2e-5  # of float32 sums in another order, through thirty layers
ALONE = ("version",)  # arrays that no comparison reads

ANIMAL = "The animal didn't cross the street because it was too tired."
MARY = "When Mary and John went to the store, John gave a drink to"
KEYS = "The keys to the cabinet are on the table."
CAT = "The cat sat on the black chair because it was tired."


def file(name: str) -> Path:
    """An example file of the app, wherever it lies."""
    return next(path for path in sorted(ROOT.rglob(name)) if ".venv" not in path.parts)


@dataclass(frozen=True)
class Case:
    """A model with an input, and what is asked of them.

    Attributes:
        name: of the case.
        model: for `hs.load`, made when it is needed.
        given: the input, and the target where there is one.
        answers: the options of `hs.export`, by name; "run" and "picture" are filled in.
        options: of `hs.trace`.
        view: options of an `hs.View` of the trace.
        heads: whether the numbers of all heads are recorded as well.
    """

    name: str
    model: Callable[[], Any]
    given: Callable[[], tuple[Any, ...]]
    answers: dict[str, dict[str, Any]]
    options: dict[str, Any] = field(default_factory=dict)
    view: dict[str, Any] = field(default_factory=dict)
    heads: bool = False


def text(name: str, words: str, answers: dict[str, dict[str, Any]], **others: Any) -> Case:
    """A case of a model of the catalogue and a text."""
    model = others.pop("model", name.partition("-")[0])
    return Case(name, lambda: model, lambda: (words,), answers, **others)


def picture(name: str, photo: str, answers: dict[str, dict[str, Any]], **others: Any) -> Case:
    """A case of a model of the catalogue and a picture."""
    model = name.partition("-")[0]
    return Case(name, lambda: model, lambda: (file(photo),), answers, **others)


RUN = {"run": True}
SEEN = {"picture": True}
LAST = {"last layer": {"layer": -1}}


def cases() -> list[Case]:
    """Everything that is asked for."""
    return [
        text(
            "minilm",
            ANIMAL,
            {
                "matrix": {"layer": 3, "head": 1},
                "layer": {"layer": 3},
                "scores": {"layer": 2, "head": 0, "values": "scores"},
                "lines": {"view": "lines", "layer": 3, "head": [1, 2]},
                "sinks": {"layer": 4, "head": 5, "sinks": "renormalised"},
                "atlas": {"view": "atlas"},
                "text": {"view": "text", "layer": 3, "head": 1, "token": 10},
                "head": {"view": "head", "layer": 3, "head": 1, "query": 10, "key": 2},
                "rollout": {"view": "model", "method": "rollout"},
                "flow": {"view": "model", "method": "flow", "query": 10},
                "alti": {"view": "model", "method": "alti"},
                "numbers": {"view": "numbers"},
            },
            options={"hidden": True},
            heads=True,
        ),
        text("minilm-words", ANIMAL, {"words": {"layer": 3}}, view={"words": True}),
        text("minilm-hidden", ANIMAL, {"hidden": {"layer": 3}}, view={"special": "hidden"}),
        text("minilm-ablate", KEYS, LAST, options={"edits": [hs.Ablate(3, 1)]}),
        text("minilm-mean", KEYS, LAST, options={"edits": [hs.Ablate(3, 1, "mean")]}),
        text("minilm-mlp", KEYS, LAST, options={"edits": [hs.AblateMLP(2)]}),
        text("minilm-cut", KEYS, LAST, options={"edits": [hs.Cut(2, None, 4, 0)]}),
        text("minilm-warm", KEYS, LAST, options={"edits": [hs.Temperature(0.5, layer=2)]}),
        text(
            "minilm-set",
            KEYS,
            LAST,
            options={"edits": [hs.SetWeights(1, 2, query=4, key=0, value=0.5)]},
        ),
        text("minilm-used", KEYS, LAST, options={"edits": [hs.UsePattern(1, 3, "uniform")]}),
        text(
            "smollm2",
            MARY,
            {
                "matrix": {"layer": 23, "head": 0},
                "layer": {"layer": 24},
                "head": {"view": "head", "layer": 24, "head": 4, "query": 13, "key": 1},
                "lens": {"view": "lens", **RUN},
                "parts": {"view": "parts", **RUN},
                "rollout": {"view": "model", "method": "rollout"},
                "attnlrp": {"view": "model", "method": "attnlrp", **RUN},
            },
            options={"hidden": True},
            heads=True,
        ),
        text(
            "smollm2-ablate",
            MARY,
            {"lens": {"view": "lens", **RUN}, "layer": {"layer": -1}},
            options={"hidden": True, "edits": [hs.Ablate(23, 0)]},
        ),
        picture(
            "dinov2",
            "flower.jpg",
            {
                "over the picture": {"view": "image", "layer": 8, "head": 2, "token": 700, **SEEN},
                "matrix": {"layer": 11, "head": 3, "rows": range(40)},
                "rollout": {"view": "model", "method": "rollout"},
                "features": {"view": "features", **SEEN},
            },
            options={"hidden": True},
            heads=True,
        ),
        Case(
            "whisper",
            lambda: "whisper",
            lambda: (file("animal.wav"),),
            {
                "cross": {"layer": 2, "head": 5, "kind": "cross", "columns": range(200)},
                "causal": {"layer": 1, "kind": "causal"},
            },
        ),
        text(
            "translate",
            CAT,
            {
                "cross": {"layer": 1, "kind": "cross"},
                "lines": {"view": "lines", "layer": 1, "head": 0, "kind": "cross"},
                "encoder": {"layer": 5, "kind": "self"},
            },
            heads=True,
        ),
        text(
            "dates",
            "4/11/2031",
            {"cross": {"layer": 0, "kind": "cross"}, "atlas": {"view": "atlas"}},
            heads=True,
        ),
        text("reverse", "stream", {"layer": {"layer": 1}}, heads=True),
        text("induction", "junk dream vow junk", {"layer": {"layer": 1}}),
        text(
            "grammar",
            "the keys near the cabinet [MASK] dusty .",
            {
                "layer": {"layer": 1},
                "gradient": {"view": "model", "method": "gradient", **RUN},
                "deletion": {"view": "faithfulness", "method": "attnlrp", **RUN},
            },
        ),
        text(
            "grammar-next",
            "the keys near the cabinet",
            {
                "layer": {"layer": 1},
                "lens": {"view": "lens", **RUN},
                "parts": {"view": "parts", **RUN},
                "blame": {"view": "blame", **RUN},
            },
            model="grammar-next",
            options={"hidden": True},
        ),
        picture(
            "digits",
            "a-three.png",
            {
                "over the picture": {"view": "image", "layer": 2, "head": 1, "token": 0, **SEEN},
                "chefer": {"view": "model", "method": "chefer", **RUN},
            },
        ),
        picture("shapes", "a-disc.png", {"layer": {"layer": 2}}),
        picture("objects", "a-star.png", {"layer": {"layer": 1}}, heads=True),
        built("encoder", hs.EncoderConfig(heads=4, dim=32, depth=2)),
        built("decoder", hs.DecoderConfig(heads=4, dim=32, depth=2)),
        built("seq2seq", hs.Seq2SeqConfig(heads=4, dim=32, depth=2), "a target of its own"),
    ]


def built(name: str, config: Any, *target: str) -> Case:
    """A case of a network that is built here, with all its heads."""
    kind = "cross" if target else "causal" if name == "decoder" else "self"
    asked = {"layer": {"layer": 1, "kind": kind}}
    return Case(f"built {name}", lambda: config, lambda: (ANIMAL, *target), asked, heads=True)


def answers(folder: Path) -> None:
    """Writes the answers of every case; one that fails leaves its message instead."""
    for case in cases():
        print(case.name, file=sys.stderr)
        model = opened(case.model())
        given = case.given()
        t = hs.trace(model, *given, **case.options)
        view = hs.View(t, **case.view) if case.view else t
        filled = {"run": (model, *given), "picture": given[0]}
        for name, asked in case.answers.items():
            options = {**asked, **{key: each for key, each in filled.items() if key in asked}}
            attempt(
                folder / f"{case.name}, {name}.npz",
                lambda path, view=view, options=options: hs.export(view, path, **options),
            )
        if case.heads:
            attempt(
                folder / f"{case.name}, heads.npz", lambda path, t=t: write_table(path, hs.heads(t))
            )


@cache
def opened(source: Any) -> Any:
    return hs.load(source)


def attempt(path: Path, write: Callable[[Path], Any]) -> None:
    """Writes a file, or its error."""
    try:
        write(path)
    except (ValueError, TypeError) as error:
        path.with_suffix(".error").write_text(f"{type(error).__name__}: {error}\n", "utf-8")


def write_table(path: Path, numbers: Any) -> None:
    """The columns of a table of heads as arrays."""
    table = numbers.to_pandas()
    columns = {str(name): table[name].to_numpy() for name in table}
    arrays = {name: v.astype(str) if v.dtype == object else v for name, v in columns.items()}
    with open(path, "wb") as target:
        np.savez_compressed(target, **arrays)


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
    "minilm, words": f"{MINILM}&words=yes&special=hidden",
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
    "positions": "/positions?scheme=rotary&view=pairs",
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
        page.locator(".hs-lab-tabs").get_by_role("button", name="Save", exact=True).click()
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
    arrived: Download = download.value
    arrived.save_as(path)
    return path


def caption_of(figure: str) -> list[str]:
    """The title and description of a figure, as its metadata say them."""
    texts = re.findall(r"<(?:dc:)?(?:title|desc|description)[^>]*>([^<]*)<", figure)
    return [" ".join(text.split()) for text in texts]


# ---- comparing


def compare(before: Path, after: Path, known: dict[str, Any]) -> Iterator[str]:
    """A line for each answer that differs without being expected to."""
    names = {path.name for path in before.iterdir()} | {path.name for path in after.iterdir()}
    for name in sorted(names):
        if (stem := Path(name).stem) in known.get("different", {}) or name.endswith(".svg"):
            continue
        old, new = before / name, after / name
        if not (old.exists() and new.exists()):
            yield f"{name}: only in {(before if old.exists() else after).name}"
        elif name.endswith(".npz"):
            yield from (f"{stem}: {each}" for each in arrays(old, new, stem, known))
        elif name.endswith(".json"):
            yield from (f"{stem}: {each}" for each in pages(old, new, stem, known))
        elif old.read_text("utf-8") != new.read_text("utf-8"):
            yield f"{stem}: {old.read_text('utf-8').strip()} | {new.read_text('utf-8').strip()}"


def arrays(old: Path, new: Path, stem: str, known: dict[str, Any]) -> Iterator[str]:
    """What differs between two files of numbers."""
    renamed, different = known.get("renamed", {}), known.get("different", {})
    with np.load(old) as first, np.load(new) as second:
        was = {renamed.get(name, name): first[name] for name in first}
        now = {name: second[name] for name in second}
        for name in sorted(was.keys() | now.keys()):
            if name in ALONE or f"{stem}:{name}" in different:
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


def pages(old: Path, new: Path, stem: str, known: dict[str, Any]) -> Iterator[str]:
    """What differs between the pages of a link: a parameter may be added, none may change."""
    renamed, different = known.get("renamed", {}), known.get("different", {})
    was, now = (json.loads(path.read_text("utf-8")) for path in (old, new))
    for name, value in was.pop("selection").items():
        name = renamed.get(name, name)
        if name not in known.get("gone", []) and now["selection"].get(name) != value:
            yield f"{name}: {value!r} | {now['selection'].get(name)!r}"
    for part, value in was.items():
        if f"{stem}:{part}" not in different and now.get(part) != value:
            yield f"{part}: {value!r} | {now.get(part)!r}"


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

"""`python -m train.corpora` makes the corpus runs that come with the app, so that any machine can.

The pretrained models read sentences of Python's own docstrings, SmolLM2 also random tokens that are
said twice, DINOv2 two photos and parts of them; the models trained here read held-out items of
their tasks. The sums from which a run could be gone on with are left out, to save room.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from analysis.corpus import corpus
from analysis.corpus.docstrings import sentences
from analysis.corpus.finished import FINISHED
from analysis.corpus.plan import forget
from analysis.corpus.repeated import repeated
from analysis.corpus.texts import Text
from models.model import Model
from models.run import load
from train.examples import picture
from train.recipes import RECIPES
from train.task import draw

PHOTOS = Path(__file__).parents[1] / "viz" / "photos"
ITEMS = 200  # held-out items of a task
PAIRS = 64  # of tokens, of each head: to save room
PARTS = {  # of a photo: left, upper, right and lower edge, as shares
    "": (0.0, 0.0, 1.0, 1.0),
    ", upper left": (0.0, 0.0, 0.5, 0.5),
    ", upper right": (0.5, 0.0, 1.0, 0.5),
    ", lower left": (0.0, 0.5, 0.5, 1.0),
    ", lower right": (0.5, 0.5, 1.0, 1.0),
}


@dataclass(frozen=True)
class Corpus:
    """A run that comes with the app.

    Attributes:
        model: name in the catalogue.
        about: what its inputs are, for display.
        inputs: makes them, of the model; pictures go into the folder.
    """

    model: str
    about: str
    inputs: Callable[[Model, Path], Sequence[str | Text]]


def docstrings(count: int) -> Callable[[Model, Path], Sequence[str]]:
    """The first sentences of Python's own docstrings."""
    return lambda model, folder: sentences(count)


def photos(model: Model, folder: Path) -> list[Text]:
    """The app's photos, whole and in quarters."""
    paths = []
    for path in sorted(PHOTOS.glob("*.jpg")):
        photo = Image.open(path)
        for name, edges in PARTS.items():
            left, upper, right, lower = edges
            width, height = photo.size
            part = photo.crop((left * width, upper * height, right * width, lower * height))
            paths.append(saved(part, f"{path.name}{name}", folder))
    return paths


def items(name: str) -> Callable[[Model, Path], Sequence[str | Text]]:
    """Held-out items of the task that a model was trained for."""

    def drawn_items(model: Model, folder: Path) -> list[str | Text]:
        every = draw(RECIPES[name].task, ITEMS, Random(0), held_out=True)
        if model.preprocessing is None:
            return [text_of(n, item) for n, item in enumerate(every)]
        pictures = (picture(item) for item in every)
        return [saved(each, f"item {n}", folder) for n, each in enumerate(pictures)]

    return drawn_items


def text_of(number: int, item: Any) -> Text:
    """An item of a task as a text; of a date, with the answer."""
    sentence, day = getattr(item, "sentence", None), getattr(item, "day", None)
    text = " ".join(sentence.words) if sentence is not None else getattr(item, "text", item)
    return Text(f"item {number}", text, None if day is None else day.isoformat())


def saved(image: Image.Image, name: str, folder: Path) -> Text:
    """An image as a file, which the corpus calls by its name."""
    path = folder / f"{len(list(folder.iterdir())):04}.png"
    image.save(path)
    return Text(name, str(path))


CORPORA = {
    "minilm": Corpus("minilm", "1,500 sentences of Python’s docstrings", docstrings(1_500)),
    "smollm2": Corpus("smollm2", "300 sentences of Python’s docstrings", docstrings(300)),
    "smollm2-repeated": Corpus(
        "smollm2", "60 texts of random tokens, each said twice", lambda m, folder: repeated(m, 60)
    ),
    "dinov2": Corpus("dinov2", "two photos, whole and in quarters", photos),
    **{
        name: Corpus(name, f"{ITEMS} items of its task that it was not trained on", items(name))
        for name in RECIPES
    },
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Makes runs, and prints the size of each. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="train.corpora", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CORPORA)}; all without any")
    parser.add_argument("--out", type=Path, default=FINISHED)
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(CORPORA))
    if unknown:
        parser.error(f"expected names of {', '.join(CORPORA)}, received {unknown[0]}")
    for name in options.names or CORPORA:
        folder = make(name, options.out)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{name}: {size / 1e6:.2f} MB")
    return 0


def make(name: str, out: Path) -> Path:
    """Makes one run in a folder; one that is there already is replaced once it is complete."""
    about = CORPORA[name]
    model = load(about.model)
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as pictures, TemporaryDirectory(dir=out) as work:
        inputs = about.inputs(model, Path(pictures))
        folder = corpus(model, inputs, Path(work) / name, about=about.about, pairs=PAIRS)
        forget(folder, everything=True)
        if (out / name).exists():
            (out / name).rename(Path(work) / "old")
        folder.rename(out / name)
    return out / name


if __name__ == "__main__":
    sys.exit(main())

"""`python -m train.corpora` makes the corpus runs that come with the app, so that any machine can.

The pretrained models read sentences of Python's own docstrings, SmolLM2 also random tokens that are
said twice, DINOv2 two photos and parts of them; the models trained here read held-out items of
their tasks.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from analysis.corpus.docstrings import repeated, sentences
from analysis.corpus.finished import FINISHED
from analysis.corpus.runs import corpus
from analysis.corpus.texts import Text
from models.model import Model
from models.run import load
from train.objects import PHOTOS
from train.publish import picture, whole_folder
from train.recipes import RECIPES
from train.task import PictureTask, draw

ITEMS = 200  # held-out items of a task
PAIRS = 64  # of tokens, of each head: to save room
NAMES = ("minilm", "smollm2", "smollm2-repeated", "dinov2", *RECIPES)

Inputs = Sequence[str | Text]


def photos(folder: Path) -> Inputs:
    """The app's photos, whole and in quarters."""
    texts = []
    for path in sorted(PHOTOS.glob("*.jpg")):
        photo = Image.open(path)
        x, y = photo.width / 2, photo.height / 2
        texts.append(_saved(photo, path.name, folder))
        for row, upper in (("upper", 0), ("lower", y)):
            for col, left in (("left", 0), ("right", x)):
                part = photo.crop((left, upper, left + x, upper + y))
                texts.append(_saved(part, f"{path.name}, {row} {col}", folder))
    return texts


def items(name: str, folder: Path) -> Inputs:
    """Held-out items of the task that a model was trained for."""
    task = RECIPES[name].task
    every = draw(task, ITEMS, Random(0), held_out=True)
    if isinstance(task, PictureTask):
        return [_saved(picture(task, item), f"item {n}", folder) for n, item in enumerate(every)]
    return [_text(n, item) for n, item in enumerate(every)]


def _text(number: int, item: Any) -> Text:
    """An item of a task as a text; of a date, with the answer."""
    sentence, day = getattr(item, "sentence", item), getattr(item, "day", None)
    words = getattr(sentence, "words", None)
    text = " ".join(words) if words else getattr(item, "text", item)
    return Text(f"item {number}", text, None if day is None else day.isoformat())


def _saved(image: Image.Image, name: str, folder: Path) -> Text:
    """An image as a file, which the corpus calls by its name."""
    path = folder / f"{len(list(folder.iterdir())):04}.png"
    image.save(path)
    return Text(name, str(path))


def inputs(name: str, model: Model, folder: Path) -> tuple[str, Inputs]:
    """What the inputs of a run are, and these; pictures go into the folder."""
    match name:
        case "minilm":
            return "1,500 sentences of Python’s docstrings", sentences(1_500)
        case "smollm2":
            return "300 sentences of Python’s docstrings", sentences(300)
        case "smollm2-repeated":
            return "60 texts of random tokens, each said twice", repeated(model, 60)
        case "dinov2":
            return "two photos, whole and in quarters", photos(folder)
        case _:
            return f"{ITEMS} items of its task that it was not trained on", items(name, folder)


def main(arguments: Sequence[str] | None = None) -> int:
    """Makes runs, and prints the size of each. Returns the exit status."""
    parser = argparse.ArgumentParser(prog="train.corpora", description=__doc__)
    parser.add_argument("names", nargs="*", choices=NAMES, help="all without any")
    parser.add_argument("--out", type=Path, default=FINISHED)
    options = parser.parse_args(arguments)
    for name in options.names or NAMES:
        folder = make(name, options.out)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(f"{name}: {size / 1e6:.2f} MB")
    return 0


def make(name: str, out: Path) -> Path:
    """Makes one run in a folder; one that is there already is replaced once it is complete."""
    model = load(name.removesuffix("-repeated"))
    with TemporaryDirectory() as pictures, whole_folder(out / name) as new:
        about, texts = inputs(name, model, Path(pictures))
        corpus(model, texts, new, about=about, pairs=PAIRS)
        rmtree(new / "work")
    return out / name


if __name__ == "__main__":
    sys.exit(main())

"""Pictures and a recording that come with the app."""

from functools import lru_cache
from pathlib import Path

from models.card import Card, Example, card
from models.catalogue import CHECKPOINTS, Entry, bundled
from models.request import File, file_of

ROOT = Path(__file__).parents[2]
FILES = {"flower": "flower.jpg", "china": "china.jpg", "coins": "coins.png"}
PHOTOS = {name: Path(__file__).parents[1] / "photos" / file for name, file in FILES.items()}
TITLES = {"flower": "A flower", "china": "A temple", "coins": "Coins"}
TRAINED: dict[str, Entry] = {entry.name: entry for entry in bundled() if entry.reads == "image"}


@lru_cache(maxsize=32)
def card_of(model: str) -> Card | None:
    """The card of a model of the catalogue that was trained for the app; None for any other."""
    return next((card(each) for each in bundled() if each.name == model), None)


def samples(model: str) -> dict[str, Example]:
    """The example pictures of a trained network, by their names in links."""
    about = card_of(model) if model in TRAINED else None
    return {} if about is None else {f"{model}/{each.input}": each for each in about.examples}


SAMPLES = {
    name: CHECKPOINTS / TRAINED[model].folder / example.input
    for model in TRAINED
    for name, example in samples(model).items()
}
PICTURES = PHOTOS | SAMPLES


def speech() -> File:
    """A sentence, spoken by eSpeak NG."""
    path = ROOT / "viz" / "recordings" / "animal.wav"
    return file_of(path.read_bytes(), path.relative_to(ROOT).as_posix())


def file(name: str) -> File:
    """The file of one of the pictures."""
    path = PICTURES[name]
    return file_of(path.read_bytes(), path.relative_to(ROOT).as_posix())

"""Model cards of the checkpoints trained here: training, evaluation, examples.

It is read from the config.json beside the weights, and needs no torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from models.catalogue import CHECKPOINTS, Entry, read_config
from models.files.errors import CheckpointError


@dataclass(frozen=True)
class Measure:
    """One measurement on held-out items."""

    name: str
    right: int  # so many were right
    of: int  # of so many
    low: float  # the true share is at least this, with 95 % confidence (Wilson 1927)
    high: float  # and at most this
    aim: float  # the share that was wanted

    @property
    def share(self) -> float:
        return self.right / self.of


@dataclass(frozen=True)
class Question:
    """One question to the network, and the classes of its logits, in order."""

    title: str
    classes: tuple[str, ...]


@dataclass(frozen=True)
class Example:
    """An example input, and one weight to point out."""

    name: str  # on its button
    input: str  # the text, or the name of a picture in the model's folder
    kind: str  # "self", "causal" or "cross"
    layer: int
    head: int
    query: int  # position of the token that attends
    key: int  # position of the token attended to
    weight: float  # that the query gives the key, to two digits
    target: str | None = None  # what an encoder–decoder is to write; None lets it write
    answers: tuple[str, ...] = ()  # of a picture, the right one to each question
    form: str = "matrix"  # of the view (see viz/selection.py)
    hint: str = ""  # what to look at; "" where a tour says it


@dataclass(frozen=True)
class Card:
    """All about a model that was trained here."""

    task: str  # what it learned, in a sentence or two
    hint: str  # what to look at, whatever the input
    measures: tuple[Measure, ...]  # how well it does
    examples: tuple[Example, ...]  # one click away
    questions: tuple[Question, ...]  # what an image is asked; () for text
    tokens: tuple[str, ...]  # every token it reads, by id; () for images
    target_tokens: tuple[str, ...]  # every token an encoder–decoder writes, by id
    training: Mapping[str, Any]  # how it was made: settings, minutes, versions of libraries
    place: tuple[int, ...] = ()  # which two questions give column and row of a patch, if any do


def card(entry: Entry) -> Card | None:
    """The card of a model of the catalogue; None if it was not trained here.

    Raises:
        CheckpointError: if its config.json is damaged.
    """
    if not entry.trained_here:
        return None
    config = read_config(CHECKPOINTS / entry.folder)
    try:
        return Card(
            task=config["task"],
            hint=config["hint"],
            measures=tuple(Measure(**each) for each in config["measures"]),
            examples=tuple(
                Example(**{**each, "answers": tuple(each.get("answers", ()))})
                for each in config["examples"]
            ),
            questions=tuple(Question(q["title"], tuple(q["classes"])) for q in config["questions"]),
            tokens=tuple(config["tokens"]),
            target_tokens=tuple(config["target_tokens"]),
            training=config["training"],
            place=tuple(config.get("place", ())),
        )
    except (KeyError, TypeError) as error:
        raise CheckpointError(f"{entry.title}: config.json is damaged: {entry.remedy}") from error

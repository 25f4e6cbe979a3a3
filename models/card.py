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
    """One measurement on held-out items.

    Attributes:
        name: what.
        right: so many were right.
        of: of so many.
        low: the true share is at least this, with 95 % confidence (Wilson 1927).
        high: and at most this.
        aim: the share that was wanted.
    """

    name: str
    right: int
    of: int
    low: float
    high: float
    aim: float

    @property
    def share(self) -> float:
        return self.right / self.of


@dataclass(frozen=True)
class Question:
    """One question to the network, and the classes of its logits, in order.

    Attributes:
        title: the question.
        classes: the answers there are.
    """

    title: str
    classes: tuple[str, ...]


@dataclass(frozen=True)
class Example:
    """An example input, and one weight to point out.

    Attributes:
        name: on its button.
        input: the text, or the name of a picture in the model's folder.
        kind: "self", "causal" or "cross".
        layer: of the head.
        head: that shows it.
        query: position of the token that attends.
        key: position of the token attended to.
        weight: that the query gives the key, to two digits.
        target: what an encoder–decoder is to write; None lets it write.
        answers: of a picture, the right one to each question.
        form: of the view (see viz/selection.py).
        hint: what to look at; "" where a tour says it.
    """

    name: str
    input: str
    kind: str
    layer: int
    head: int
    query: int
    key: int
    weight: float
    target: str | None = None
    answers: tuple[str, ...] = ()
    form: str = "matrix"
    hint: str = ""


@dataclass(frozen=True)
class Card:
    """All about a model that was trained here.

    Attributes:
        task: what it learned, in a sentence or two.
        hint: what to look at, whatever the input.
        measures: how well it does.
        examples: inputs, one click away.
        questions: what an image is asked; () for text, where the classes are `tokens`.
        tokens: every token it reads, by id; () for images.
        target_tokens: every token an encoder–decoder writes, by id.
        training: how it was made: settings, minutes, versions of libraries.
        place: which two questions give the column and the row of a patch; () for none.
    """

    task: str
    hint: str
    measures: tuple[Measure, ...]
    examples: tuple[Example, ...]
    questions: tuple[Question, ...]
    tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    training: Mapping[str, Any]
    place: tuple[int, ...] = ()


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

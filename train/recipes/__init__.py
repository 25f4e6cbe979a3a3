"""Recipes of the app's models: NAME.toml has task, network, hyperparameters and examples of one."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from torch import nn

from models.model import BUILT, Config, config_of
from train.dates import Dates
from train.digits import Digits
from train.grammar import Masked, NextWord
from train.letters import Induction, Reverse
from train.loop import Settings
from train.objects import Objects
from train.shapes import Shapes
from train.task import PictureTask, draw
from train.vocabulary import Vocabulary

TASKS: dict[str, Any] = {
    task.__name__: task
    for task in (Reverse, Induction, Dates, Masked, NextWord, Shapes, Digits, Objects)
}


@dataclass(frozen=True)
class Pointer:
    """An example whose head is not yet determined: the one that gives a key the most weight.

    Attributes:
        name: label of its button.
        hint: what to look at; a template with {layer}, {head} and {weight}.
        query: position of the query token.
        keys: candidate key positions; () means any.
        kind: "self", "causal" or "cross".
        input: a text.
        number: of the item whose picture it is: in the list of all, or among held-out ones.
        seed: of the held-out ones.
    """

    name: str
    hint: str
    query: int = 0
    keys: tuple[int, ...] = ()
    kind: str = "self"
    input: str = ""
    number: int = 0
    seed: str | None = None

    @property
    def file(self) -> str:
        """File name of a picture."""
        return f"{self.name.lower().replace(' ', '-')}.png"


@dataclass(frozen=True)
class Recipe:
    """How one of the app's models is trained and described.

    Attributes:
        card: what its model card says: title, summary, task, hint.
        task: the `Task` to learn.
        config: of the network.
        settings: hyperparameters.
        exams: evaluations by name: a task for held-out items, and the accuracy to reach.
        pointers: examples.
        items: number of items in an evaluation, for tasks without a finite number.
        place: which two questions give the column and the row of a patch; () for none.
    """

    card: dict[str, str]
    task: Any
    config: Config
    settings: Settings
    exams: dict[str, tuple[Any, float]]
    pointers: tuple[Pointer, ...] = ()
    items: int = 2000
    place: tuple[int, ...] = ()

    @property
    def network(self) -> nn.Module:
        """The network, untrained."""
        return BUILT[type(self.config)][1](self.config)

    @property
    def questions(self) -> Mapping[str, tuple[str, ...]]:
        """Questions about an image, each with its class names."""
        return self.task.questions if isinstance(self.task, PictureTask) else {}

    def item(self, pointer: Pointer) -> Any:
        """The item whose picture an example is."""
        if pointer.seed is None:
            return self.task.every[pointer.number]
        dice = Random(pointer.seed)
        return draw(self.task, pointer.number + 1, dice, held_out=True)[-1]

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """Its vocabularies, by the name of their tokenizer file."""
        files = {"tokenizer.json": "vocabulary", "target_tokenizer.json": "target_vocabulary"}
        return {f: getattr(self.task, v) for f, v in files.items() if hasattr(self.task, v)}


def read(path: Path) -> Recipe:
    """The recipe in a file."""
    fields = tomllib.loads(path.read_text(encoding="utf-8"))
    task = TASKS[fields.pop("learns")]
    settings = {"model_type": fields.pop("network"), "config": fields.pop("config")}
    return Recipe(
        task=task(),
        config=config_of(settings),
        settings=Settings(**fields.pop("settings")),
        exams={
            exam["name"]: (task(**exam.get("task", {})), exam["aim"])
            for exam in fields.pop("exams")
        },
        pointers=tuple(
            Pointer(**{**each, "keys": tuple(each.get("keys", ()))})
            for each in fields.pop("pointers")
        ),
        place=tuple(fields.pop("place", ())),
        **fields,
    )


RECIPES = {path.stem: read(path) for path in sorted(Path(__file__).parent.glob("*.toml"))}

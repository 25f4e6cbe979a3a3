"""Recipes: task, network, hyperparameters and examples of a model shipped with the app."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import nn

from models.loading.convert.own import TYPES, Config, settings_of
from train.examples import Pointer
from train.loop import Settings
from train.task import Task
from train.vocabulary import Vocabulary


@dataclass(frozen=True)
class Recipe:
    """How one of the app's models is trained and described.

    Attributes:
        title: display name.
        summary: one sentence, for lists.
        about: description of the task.
        hint: what to look at, for any input.
        task: the task to learn.
        config: of the network.
        settings: hyperparameters.
        exams: evaluations by name: a task for held-out items, and the accuracy to reach.
        pointers: examples.
        questions: questions about an image, each with its class names.
        items: number of items in an evaluation, for tasks without a finite number.
        place: which two questions give the column and the row of a patch; () for none.
    """

    title: str
    summary: str
    about: str
    hint: str
    task: Task
    config: Config
    settings: Settings
    exams: Mapping[str, tuple[Task, float]]
    pointers: tuple[Pointer, ...] = ()
    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    items: int = 2000
    place: tuple[int, ...] = ()

    @property
    def network(self) -> nn.Module:
        """The network, untrained."""
        name: str = settings_of(self.config)["model_type"]
        return TYPES[name][1](self.config)

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """Its vocabularies, by the name of their tokenizer file."""
        files = {"tokenizer.json": "vocabulary", "target_tokenizer.json": "target_vocabulary"}
        return {f: getattr(self.task, v) for f, v in files.items() if hasattr(self.task, v)}

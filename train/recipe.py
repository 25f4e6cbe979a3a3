"""Recipes: task, network, training settings, and examples of a model of the app."""

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
    """How one of the app's models is made.

    Attributes:
        title: what people call it.
        summary: one sentence, for lists.
        about: what it learned.
        hint: what to look at, whatever the input.
        task: what it learns.
        config: of the network.
        settings: of the training.
        exams: what is measured: a name, the task whose items are held out, the share to reach.
        pointers: examples.
        questions: what an image is asked, with the names of the classes.
        items: how many items an exam has, if the task cannot count them.
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

    @property
    def network(self) -> nn.Module:
        """The network, untrained."""
        name: str = settings_of(self.config)["model_type"]
        return TYPES[name][1](self.config)

    @property
    def vocabularies(self) -> dict[str, Vocabulary]:
        """What reads texts for it, by the name of the file that says so."""
        found = {"tokenizer.json": "vocabulary", "target_tokenizer.json": "target_vocabulary"}
        return {f: getattr(self.task, v) for f, v in found.items() if hasattr(self.task, v)}

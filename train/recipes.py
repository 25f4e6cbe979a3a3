"""What is trained for the app: task, network, settings, and what a reader should look at."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from torch import nn

from models.convert.own import TYPES, Config, settings_of
from models.encoder import EncoderConfig
from train.examples import Pointer
from train.loop import Settings
from train.sequences import LETTERS, Rearrange
from train.task import Task
from train.vocabulary import Vocabulary


@dataclass(frozen=True)
class Recipe:
    """How one of the app's models is made.

    Attributes:
        title: what people call it.
        summary: one sentence, for lists.
        about: what it learned.
        look: what to look at, whatever the input.
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
    look: str
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


REVERSE = Recipe(
    title="Reverse",
    summary="An encoder that writes letters backwards: 2 layers of one head, width 64.",
    about="Letters in, the same letters backwards out, for 4 to 12 of them.",
    look="The last layer is an anti-diagonal: every place looks at the place it must copy, as far"
    " from the end as it is from the beginning. The layer before finds out where the end is.",
    task=Rearrange("reverse"),
    config=EncoderConfig(
        vocab=len(LETTERS),
        dim=64,
        depth=2,
        heads=1,
        mlp=128,
        norm="pre",
        max_tokens=16,
        dropout=0.0,
        padding=0,
        classes=len(LETTERS),
    ),
    settings=Settings(steps=800, batch=64, rate=3e-3, every=100),
    exams={"reversed without a mistake": (Rearrange("reverse"), 0.995)},
    pointers=(
        Pointer(
            "Backwards",
            "stream",
            "Layer {layer}, head {head}: “s” gives {weight} of its attention to “m”, the letter"
            " that has to stand in its place. Every letter does so: an anti-diagonal.",
            query=0,
            keys=(5,),
        ),
        Pointer(
            "The middle",
            "level",
            "Layer {layer}, head {head}: the middle one of five letters stays where it is, and"
            " “v” looks at itself ({weight}).",
            query=2,
            keys=(2,),
        ),
        Pointer(
            "Twelve letters",
            "aaaaaabbbbbb",
            "Layer {layer}, head {head}: all letters of a half are equal, and still each looks at"
            " its own mirror image (the first at the last: {weight}). It goes by place alone.",
            query=0,
            keys=(11,),
        ),
    ),
)
RECIPES: dict[str, Recipe] = {"reverse": REVERSE}

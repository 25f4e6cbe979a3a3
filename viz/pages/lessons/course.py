"""The lessons, in the order a course takes; a lesson is there when its page is."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "learn"


@dataclass(frozen=True)
class Lesson:
    """One lesson.

    Attributes:
        name: of its page, and in its address.
        title: for readers.
        icon: of Material Symbols.
        line: what it is about.
    """

    name: str
    title: str
    icon: str
    line: str

    @property
    def script(self) -> str:
        """The page, from the project's folder."""
        return f"viz/pages/learn/{self.name}.py"


COURSE = (
    Lesson(
        "dictionary",
        "Soft dictionary",
        "menu_book",
        "Attention is a look-up in a dictionary that may answer with a mixture.",
    ),
    Lesson(
        "by_hand",
        "Self-attention by hand",
        "calculate",
        "Two words look at each other, and every number can be checked.",
    ),
    Lesson(
        "query_key_value",
        "Query, key, value",
        "key",
        "Three matrices give every word three roles, and something to learn.",
    ),
    Lesson(
        "scale",
        "Scale and softmax",
        "straighten",
        "Why scores are divided by √d, and what happens if they are not.",
    ),
    Lesson(
        "heads",
        "Many heads",
        "view_column",
        "Several attentions side by side, each free to look for something else.",
    ),
    Lesson(
        "position",
        "Position",
        "tag",
        "Attention alone knows no order: how order gets in.",
    ),
    Lesson(
        "block",
        "The encoder block",
        "layers",
        "Attention, residual connections, norms and a feed-forward network.",
    ),
    Lesson(
        "decoder",
        "The decoder and masks",
        "visibility_off",
        "Writing a word at a time, without seeing what comes next.",
    ),
    Lesson(
        "both",
        "Encoder and decoder together",
        "sync_alt",
        "One network reads, another writes, and attention joins them.",
    ),
    Lesson(
        "head_layer",
        "The head layer",
        "bar_chart",
        "From vectors to probabilities, and how wrong they are.",
    ),
    Lesson(
        "vision",
        "The vision transformer in six steps",
        "image",
        "An image becomes a sentence of patches.",
    ),
    Lesson(
        "quiz",
        "Quiz",
        "quiz",
        "Questions about numbers on the screen, and exercises to write.",
    ),
)


@cache
def lessons() -> tuple[Lesson, ...]:
    """The lessons whose pages are there."""
    return tuple(lesson for lesson in COURSE if (FOLDER / f"{lesson.name}.py").is_file())


def lesson(name: str) -> Lesson:
    """The lesson of that name."""
    return next(each for each in COURSE if each.name == name)


def neighbours(name: str) -> tuple[Lesson | None, Lesson | None]:
    """The lessons before and after this one; None where the course begins or ends."""
    known = lessons()
    place = known.index(lesson(name))
    before = known[place - 1] if place else None
    return before, known[place + 1] if place + 1 < len(known) else None

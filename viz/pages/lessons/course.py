"""The lessons, in the order a course takes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    """One lesson.

    Attributes:
        name: of its folder, and its address.
        title: for display.
        icon: name of a Material Symbol.
        line: its topic in one sentence.
    """

    name: str
    title: str
    icon: str
    line: str


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
        "Without a mask, attention ignores order: how positions are encoded.",
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
        "From vectors to probabilities, and the loss.",
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
        "Sums, ideas, real attention maps, and coding exercises.",
    ),
)


def lesson(name: str) -> Lesson:
    """The lesson of that name."""
    return next(each for each in COURSE if each.name == name)


def neighbours(name: str) -> tuple[Lesson | None, Lesson | None]:
    """The lessons before and after this one; None where the course begins or ends."""
    number = COURSE.index(lesson(name))
    before = COURSE[number - 1] if number else None
    return before, COURSE[number + 1] if number + 1 < len(COURSE) else None

"""The lessons, in the order a course takes: each after those it needs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Lesson:
    """One lesson.

    Attributes:
        name: of its folder, and its address.
        title: for display.
        icon: name of a Material Symbol.
        line: its topic in one sentence.
        parts: of the map that it explains, as in assets/map/parts.js.
        needs: names of the earlier lessons that it builds on.
        minutes: for reading it and trying its buttons.
    """

    name: str
    title: str
    icon: str
    line: str
    parts: tuple[str, ...]
    needs: tuple[str, ...]
    minutes: int


COURSE = (
    Lesson(
        "sequences",
        "Why attention?",
        "linear_scale",
        "What recurrence and convolution lack: a short way between distant words.",
        parts=("network",),
        needs=(),
        minutes=15,
    ),
    Lesson(
        "tokens",
        "Tokens and embeddings",
        "data_array",
        "A text becomes ids, and each id selects a vector from a table.",
        parts=("tokens",),
        needs=(),
        minutes=15,
    ),
    Lesson(
        "dictionary",
        "Soft dictionary",
        "menu_book",
        "Attention is a look-up in a dictionary that may answer with a mixture.",
        parts=("mixture",),
        needs=(),
        minutes=15,
    ),
    Lesson(
        "by_hand",
        "Self-attention by hand",
        "calculate",
        "Two words look at each other, and every number can be checked.",
        parts=("scores",),
        needs=("tokens", "dictionary"),
        minutes=15,
    ),
    Lesson(
        "query_key_value",
        "Query, key, value",
        "key",
        "Three matrices give every word three roles, and something to learn.",
        parts=("projections",),
        needs=("by_hand",),
        minutes=20,
    ),
    Lesson(
        "scale",
        "Scale and softmax",
        "straighten",
        "Why scores are divided by √d, and what happens if they are not.",
        parts=("softmax",),
        needs=("query_key_value",),
        minutes=15,
    ),
    Lesson(
        "heads",
        "Many heads",
        "view_column",
        "Several attentions side by side, each free to look for something else.",
        parts=("heads",),
        needs=("query_key_value",),
        minutes=20,
    ),
    Lesson(
        "position",
        "Position",
        "tag",
        "Without a mask, attention ignores order: how positions are encoded.",
        parts=("position",),
        needs=("query_key_value",),
        minutes=20,
    ),
    Lesson(
        "block",
        "The encoder block",
        "layers",
        "Attention, residual connections, norms and a feed-forward network.",
        parts=("norm", "feed-forward"),
        needs=("heads",),
        minutes=25,
    ),
    Lesson(
        "head_layer",
        "The head layer",
        "bar_chart",
        "From vectors to probabilities, and the loss.",
        parts=("head layer",),
        needs=("scale",),
        minutes=15,
    ),
    Lesson(
        "decoder",
        "The decoder and masks",
        "visibility_off",
        "Writing a word at a time, without seeing what comes next.",
        parts=("masked attention",),
        needs=("block", "head_layer"),
        minutes=20,
    ),
    Lesson(
        "sampling",
        "Sampling and the cache",
        "casino",
        "From probabilities to a written token, and why the next one is cheap.",
        parts=("output",),
        needs=("decoder",),
        minutes=15,
    ),
    Lesson(
        "both",
        "Encoder and decoder together",
        "sync_alt",
        "One network reads, another writes, and attention joins them.",
        parts=("cross-attention",),
        needs=("position", "decoder"),
        minutes=25,
    ),
    Lesson(
        "heads_do",
        "What heads do",
        "science",
        "Roles of trained heads, what happens without them, and what weights do not explain.",
        parts=("heads",),
        needs=("heads", "decoder"),
        minutes=25,
    ),
    Lesson(
        "vision",
        "The vision transformer",
        "image",
        "An image becomes a sentence of patches.",
        parts=("patches",),
        needs=("position", "block", "head_layer"),
        minutes=25,
    ),
    Lesson(
        "quiz",
        "Quiz",
        "quiz",
        "Sums, ideas, real attention maps, and coding exercises.",
        parts=(),
        needs=("heads", "block", "decoder", "vision"),
        minutes=30,
    ),
)


def lesson(name: str) -> Lesson:
    """The lesson of that name."""
    return next(each for each in COURSE if each.name == name)


def number(name: str) -> int:
    """The place of a lesson in the course, counted from 1."""
    return COURSE.index(lesson(name)) + 1


def neighbours(name: str) -> tuple[Lesson | None, Lesson | None]:
    """The lessons before and after this one; None where the course begins or ends."""
    after = number(name)
    before = COURSE[after - 2] if after > 1 else None
    return before, COURSE[after] if after < len(COURSE) else None


def minutes() -> int:
    """Minutes of the whole course."""
    return sum(each.minutes for each in COURSE)

"""Attention without a scale, and the smallest transformer: a part of the lesson on q, k and v."""

from typing import TYPE_CHECKING

from viz.pages.lessons import frame, inputs, tables
from viz.pages.lessons.query_key_value import texts

if TYPE_CHECKING:
    from models.attention import Pattern
    from models.lessons.followed import SmallestSteps

NAME = "query_key_value"
WORDS = ("word 1", "word 2")
FEATURES = ("feature 1", "feature 2", "feature 3")
WIDE = {"rows": WORDS, "cols": FEATURES, "axes": ("word", "feature")}


def draw() -> None:
    """Both on words of the reader's."""
    import torch

    from models import simple
    from models.lessons import followed

    frame.text(*texts.SMALLEST)
    x = torch.tensor([inputs.grid(NAME, "w", WORDS, FEATURES)])
    example = simple.worked_example()
    with torch.no_grad():
        _, pattern = example.attention(x)
        steps = followed.follow_smallest(example.transformer, x)
    frame.show(*_unscaled(pattern))
    frame.text(texts.TRANSFORMER)
    frame.show(_transformer(steps))


def _unscaled(pattern: "Pattern") -> tuple[str, str]:
    from models.lessons import followed

    found = followed.follow(pattern)
    square = {"rows": WORDS, "cols": WORDS, "axes": ("query", "key")}
    vectors = (
        tables.matrix(each[0, 0].tolist(), title=title, **WIDE)
        for title, each in (("Q", pattern.q), ("K", pattern.k), ("V", pattern.v))
    )
    return tables.row(*vectors), tables.row(
        tables.matrix(found.scores.tolist(), title="QKᵀ", kind="signed", **square),
        tables.matrix(found.weights.tolist(), title="Weights, no scale", kind="weights", **square),
        tables.matrix(found.values.tolist(), title="Unscaled attention", **WIDE),
    )


def _transformer(steps: "SmallestSteps") -> str:
    one = {"rows": WORDS, "cols": ("number",), "axes": ("word", "number")}
    return tables.row(
        tables.matrix(steps.attended.tolist(), title="Its attention", **WIDE),
        tables.matrix(steps.added.tolist(), title="x + attention", **WIDE),
        tables.matrix(steps.normed.tolist(), title="[[layer normalisation|Norm]]", **WIDE),
        tables.matrix(steps.predictions.tolist(), title="Prediction", **one),
    )

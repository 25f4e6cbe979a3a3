"""The smallest transformer: attention, a residual connection, a norm and a linear layer."""

from typing import TYPE_CHECKING

from viz.pages.lessons import frame, inputs, tables

if TYPE_CHECKING:
    from models.attention import Pattern
    from models.lessons.followed import SmallestSteps

WORDS = (  # two words, torch.rand with seed 2
    (0.44253265857696533, 0.09576863050460815, 0.6141571998596191),
    (0.05732768774032593, 0.5657140016555786, 0.5332289338111877),
)
NAMES = ("word 0", "word 1")
THREE = ("feature 0", "feature 1", "feature 2")
WIDE = {"rows": NAMES, "cols": THREE, "axes": ("word", "feature")}
PARAMS = inputs.params("w", WORDS)
SMALLEST = (
    "A block need not be large. First attention alone: three matrices, randomly initialised"
    " (seed 2) and not trained; three features in and out; and no division by √d_{k}. Change the"
    " words and follow them.",
)
TRANSFORMER = (
    "The smallest [[transformer]] has an attention of its own, with other random matrices. It adds"
    " the words to what attention gives, normalises each, and maps it to one number with a"
    " [[linear layer]]: a prediction for every word, and random as long as nothing is trained."
)


def draw(name: str) -> None:
    """Attention without a scale, and the smallest transformer, on the user's words."""
    import torch

    from models import simple
    from models.lessons import followed

    frame.text(*SMALLEST)
    x = torch.tensor([inputs.grid(name, "w", NAMES, THREE)])
    example = simple.worked_example()
    with torch.no_grad():
        _, pattern = example.attention(x)
        steps = followed.follow_smallest(example.transformer, x)
    frame.show(*_unscaled(pattern))
    frame.text(TRANSFORMER)
    frame.show(_transformer(steps))


def _unscaled(pattern: "Pattern") -> tuple[str, str]:
    from models.lessons import followed

    found = followed.follow(pattern)
    square = {"rows": NAMES, "cols": NAMES, "axes": ("query", "key")}
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
    one = {"rows": NAMES, "cols": ("number",), "axes": ("word", "number")}
    return tables.row(
        tables.matrix(steps.attended.tolist(), title="Its attention", **WIDE),
        tables.matrix(steps.added.tolist(), title="x + attention", **WIDE),
        tables.matrix(steps.normed.tolist(), title="[[layer normalisation|Norm]]", **WIDE),
        tables.matrix(steps.predictions.tolist(), title="Prediction", **one),
    )

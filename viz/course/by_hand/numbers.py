"""A film and a viewer, then self-attention over two words without anything to learn."""

from typing import Any

WORDS, FEATURES = 2, 3


def numbers(film: list[float], viewer: list[float], x: list[float], row: int) -> dict[str, Any]:
    """The terms of a dot product, and every step from the words to their outputs.

    Args:
        film: what it offers, feature by feature.
        viewer: what they like, in the same features.
        x: the words, row by row.
        row: the word that is followed.
    """
    import torch

    from models import simple
    from models.lessons import followed

    products, match = followed.terms(torch.tensor(film), torch.tensor(viewer))
    words = torch.tensor(x).view(1, WORDS, FEATURES)
    _, pattern = simple.unlearned(words)
    steps = followed.follow(pattern)
    return {
        "film": film,
        "viewer": viewer,
        "products": products.tolist(),
        "match": match.item(),
        "x": words[0].tolist(),
        "row": row,
        "other": 1 - row,
        "scores": steps.scores.tolist(),
        "exponentials": steps.exponentials.tolist(),
        "shifts": steps.shifts.tolist(),
        "sums": steps.sums.tolist(),
        "weights": steps.weights.tolist(),
        "contributions": (steps.weights[:, :, None] * words).tolist(),
        "outputs": steps.values.tolist(),
    }

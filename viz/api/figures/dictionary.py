"""A soft dictionary of four people's heights, asked for a name."""

from typing import Any

KEYS = ["Ann", "Mike", "Michelle", "Andrew"]
VALUES = [167.0, 186.0, 170.0, 176.0]  # cm


def numbers(query: str, temperature: float) -> dict[str, Any]:
    """Every number from the comparison with the keys to the answer."""
    import torch

    from models.lessons import dictionary

    values = torch.tensor(VALUES)
    similarities = dictionary.edits(query, KEYS)
    exponentials, shift = dictionary.exponentials(similarities, temperature)
    weights = dictionary.normalised(similarities, "softmax", temperature=temperature)
    contributions = dictionary.contributions(weights, values[:, None])[:, 0]
    return {
        "query": query,
        "keys": KEYS,
        "values": VALUES,
        "distances": [dictionary.edit_distance(query, key) for key in KEYS],
        "similarities": similarities.tolist(),
        "exponentials": exponentials.tolist(),
        "shift": shift,
        "total": exponentials.sum().item(),
        "weights": weights.tolist(),
        "contributions": contributions.tolist(),
        "answer": dictionary.pooled(weights, values[:, None]).item(),
        "mean": values.mean().item(),
        "best": KEYS[int(weights.argmax())],
        "largest": weights.max().item(),
    }

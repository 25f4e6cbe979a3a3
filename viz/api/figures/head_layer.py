"""The head layer for one vector and four words: logits, probabilities, loss and gradient."""

from typing import Any

WORDS = ("bark", "sleep", "meow", "fly")
WEIGHTS = ((1.5, -0.2, 0.4), (0.3, 0.8, 0.5), (-1.0, 0.6, 0.9), (-0.4, -1.2, 0.1))


def numbers(h: list[float], target: int, rate: float, temperature: float) -> dict[str, Any]:
    """Every number from the vector to the loss, after a step of descent, and at a temperature.

    Args:
        h: the vector.
        target: index of the right word.
        rate: size of the step that moves the logits against their gradient.
        temperature: that divides the logits.
    """
    import torch

    from models.lessons import loss_steps
    from models.output import softmax

    weights = torch.tensor(WEIGHTS)
    logits = loss_steps.project(torch.tensor(h), weights)
    found = loss_steps.loss_steps(logits, target)
    moved = loss_steps.loss_steps(logits - rate * found.gradient, target)
    first, second = found.order[:2].tolist()
    probabilities = found.probabilities.tolist()
    return {
        "words": WORDS,
        "h": h,
        "weights": weights.tolist(),
        "logits": logits.tolist(),
        "exponentials": found.exponentials.tolist(),
        "total": found.total.item(),
        "probabilities": probabilities,
        "target": target,
        "word": WORDS[target],
        "logit": logits[target].item(),
        "probability": probabilities[target],
        "loss": found.loss.item(),
        "gradient": found.gradient.tolist(),
        "slope": found.gradient[target].item(),
        "moved": {
            "logits": moved.logits.tolist(),
            "probabilities": moved.probabilities.tolist(),
            "probability": moved.probabilities[target].item(),
            "loss": moved.loss.item(),
        },
        "best": WORDS[first],
        "second": WORDS[second],
        "gap": (logits[first] - logits[second]).item(),
        "ratio": (found.probabilities[first] / found.probabilities[second]).item(),
        "largest": probabilities[first],
        "divided": (logits / temperature).tolist(),
        "sampled": softmax(logits / temperature).tolist(),
        "sampled_largest": softmax(logits / temperature).max().item(),
        "even": torch.tensor(len(WORDS)).log().item(),
    }

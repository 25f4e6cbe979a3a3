"""The head layer: logits, probabilities, loss and gradient, for the last vector of SmolLM2 and its
49,152 tokens, or for a vector of three numbers and four words.
"""

import math
from collections.abc import Mapping
from typing import Any

from viz.course.boards import Board, board, panel, table
from viz.course.head_layer import real
from viz.course.real import about

WORDS = ("bark", "sleep", "meow", "fly")
WEIGHTS = ((1.5, -0.2, 0.4), (0.3, 0.8, 0.5), (-1.0, 0.6, 0.9), (-0.4, -1.2, 0.1))


def numbers(
    network: str, text: str, h: list[float], target: int, rate: float, temperature: float
) -> dict[str, Any]:
    """Every number from the vector to the loss, after a step of descent, and at a temperature.

    Args:
        network: "smollm2", or "words" for the four words.
        text: that SmolLM2 goes on with.
        h: the vector that the four words are compared with.
        target: index of the right word, by probability in SmolLM2.
        rate: size of the step that moves the logits against their gradient.
        temperature: that divides the logits; of SmolLM2 to two decimals.

    Raises:
        InputError: for a text of too many tokens.
    """
    if network == real.MODEL:
        return _language_model(text, target, rate, temperature)
    return _four_words(h, min(target, len(WORDS) - 1), rate, temperature)


def _language_model(text: str, target: int, rate: float, temperature: float) -> dict[str, Any]:
    """Of the likeliest tokens, with all others taken together at the end."""
    read = real.head(text)
    logits, drops, moments = (read[each] for each in ("logits", "drops", "moments"))
    at = min(max(round(100 * temperature), real.LOW), real.HIGH)
    total = _log_sum([*drops, read["sums"][100 - real.LOW]])
    probabilities = [*(math.exp(each - total) for each in drops), moments[0]]
    wanted = [float(n == target) for n in range(len(probabilities))]
    gradient = [p - y for p, y in zip(probabilities, wanted, strict=True)]
    divided = [100 * each / at for each in drops]
    tempered = _log_sum([*divided, read["sums"][at - real.LOW]])
    sampled = [math.exp(each - tempered) for each in divided]
    sampled.append(1 - sum(sampled))
    probability = probabilities[target]
    return {
        "network": real.MODEL,
        "text": text,
        "words": [*read["words"], "all others"],
        "dim": len(read["h"]),
        **{each: read[each] for each in ("h", "norm", "rows", "cosines", "logits", "vocab")},
        "probabilities": probabilities,
        "target": target,
        "word": read["words"][target],
        "logit": logits[target],
        "probability": probability,
        "loss": -math.log(probability),
        "gradient": gradient,
        "slope": gradient[target],
        "moved": _moved(logits, probabilities, gradient, moments, target, rate),
        "best": read["words"][0],
        "second": read["words"][1],
        "gap": -drops[1],
        "ratio": math.exp(-drops[1]),
        "largest": probabilities[0],
        "rest": probabilities[-1],
        "divided": [100 * each / at for each in logits],
        "sampled": sampled,
        "sampled_largest": sampled[0],
        "sampled_rest": sampled[-1],
        "even": math.log(read["vocab"]),
        **about(real.MODEL, input=text),
    }


def _moved(
    logits: list[float],
    probabilities: list[float],
    gradient: list[float],
    moments: list[float],
    target: int,
    rate: float,
) -> dict[str, Any]:
    """After logit ← logit − η (p − y) for every token.

    A token without a name has the factor exp(−η p), so all of them together Σ p exp(−η p), as a
    power series: Σ_{k} (−η)^k / k! Σ p^{k + 1}.
    """
    named = zip(logits, gradient, strict=False)
    changes = zip(probabilities[:-1], gradient, strict=False)
    parts = [p * math.exp(-rate * slope) for p, slope in changes]
    terms = enumerate(moments)
    parts.append(sum((-rate) ** k / math.factorial(k) * moment for k, moment in terms))
    total = sum(parts)
    return {
        "logits": [logit - rate * slope for logit, slope in named],
        "probabilities": [part / total for part in parts],
        "probability": parts[target] / total,
        "loss": -math.log(parts[target] / total),
    }


def _log_sum(values: list[float]) -> float:
    """log Σ exp, where no exponential overflows."""
    most = max(values)
    return most + math.log(sum(math.exp(each - most) for each in values))


def _four_words(h: list[float], target: int, rate: float, temperature: float) -> dict[str, Any]:
    import torch

    from models.lessons import loss_steps
    from models.output import softmax

    weights = torch.tensor(WEIGHTS)
    logits = loss_steps.project(torch.tensor(h), weights)
    loss = loss_steps.loss_steps(logits, target)
    moved = loss_steps.loss_steps(logits - rate * loss.gradient, target)
    first, second = loss.order[:2].tolist()
    probabilities = loss.probabilities.tolist()
    return {
        "network": "words",
        "words": WORDS,
        "h": h,
        "weights": weights.tolist(),
        "logits": logits.tolist(),
        "exponentials": loss.exponentials.tolist(),
        "total": loss.total.item(),
        "probabilities": probabilities,
        "target": target,
        "word": WORDS[target],
        "logit": logits[target].item(),
        "probability": probabilities[target],
        "loss": loss.loss.item(),
        "gradient": loss.gradient.tolist(),
        "slope": loss.gradient[target].item(),
        "moved": {
            "logits": moved.logits.tolist(),
            "probabilities": moved.probabilities.tolist(),
            "probability": moved.probabilities[target].item(),
            "loss": moved.loss.item(),
        },
        "best": WORDS[first],
        "second": WORDS[second],
        "gap": (logits[first] - logits[second]).item(),
        "ratio": (loss.probabilities[first] / loss.probabilities[second]).item(),
        "largest": probabilities[first],
        "divided": (logits / temperature).tolist(),
        "sampled": softmax(logits / temperature).tolist(),
        "sampled_largest": softmax(logits / temperature).max().item(),
        "even": torch.tensor(len(WORDS)).log().item(),
    }


OTHERS = ((0.2, 1.1, 0.3), (-0.9, 0.4, 1.0), (0.1, -1.3, -0.2))  # vectors beside the reader's
TARGETS = (1, 2, 3)  # their right words


def smooth(values: Mapping[str, Any]) -> Board:
    """The loss against a target that is spread a little."""
    import torch

    from models.lessons import loss_steps

    target, smoothing = _target(values), float(values["smoothing"])
    logits = loss_steps.project(torch.tensor(values["h"]), torch.tensor(WEIGHTS))
    plain, soft = (loss_steps.loss_steps(logits, target, smoothing=s) for s in (0.0, smoothing))
    share = smoothing / len(WORDS)
    wanted = [share + (1 - smoothing) * (n == target) for n in range(len(WORDS))]
    terms = [-w * p.log().item() for w, p in zip(wanted, soft.probabilities, strict=True)]
    target_rows = zip(wanted, soft.probabilities.tolist(), terms, strict=True)
    slopes = zip(plain.gradient.tolist(), soft.gradient.tolist(), strict=True)
    return board(
        [
            table(
                "Loss",
                {
                    **{word: [*row] for word, row in zip(WORDS, target_rows, strict=True)},
                    "sum": [sum(wanted), soft.probabilities.sum().item(), sum(terms)],
                },
                ["target y", "p", "−y log p"],
            )
        ],
        [
            table(
                "Gradient p − y",
                {word: [*row] for word, row in zip(WORDS, slopes, strict=True)},
                ["y not smoothed", "y smoothed"],
                kind="signed",
            )
        ],
        loss=soft.loss.item(),
        sharp=plain.loss.item(),
        word=WORDS[target],
        share=wanted[target],
        other=share,
    )


def _target(values: Mapping[str, Any]) -> int:
    return min(values["target"], len(WORDS) - 1)


def top_k(values: Mapping[str, Any]) -> Board:
    """A batch of four vectors: the rank of the right word, and top-k accuracy."""
    import torch

    from models.lessons import loss_steps
    from models.output import cross_entropy, softmax, top_k_accuracy

    weights = torch.tensor(WEIGHTS)
    vectors, targets = [values["h"], *OTHERS], [_target(values), *TARGETS]
    logits = torch.stack([loss_steps.project(torch.tensor(h), weights) for h in vectors])
    wanted = torch.tensor(targets)
    rows: dict[str, list[float | str | None]] = {}
    for n, (row, right) in enumerate(zip(logits, targets, strict=True)):
        loss = loss_steps.loss_steps(row, right)
        formatted = [f"{share:.3f}" for share in softmax(row).tolist()]
        name = "yours" if n == 0 else f"vector {n + 1}"
        rows[name] = [*formatted, WORDS[right], str(loss.rank), f"{loss.loss.item():.3f}"]
    accuracy = [[top_k_accuracy(logits, wanted, k).item() for k in range(1, len(WORDS) + 1)]]
    cols = [*WORDS, "right", "rank", "loss"]
    return board(
        [table("Probabilities of a batch of four", rows, cols)],
        [panel("accuracy", accuracy, cols=[f"top-{k}" for k in range(1, 5)], kind="weights")],
        loss=cross_entropy(logits, wanted).item(),
    )


BOARDS = {"smooth": smooth, "topk": top_k}

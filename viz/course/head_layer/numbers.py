"""The head layer: logits, probabilities, loss and gradient, for the last vector of SmolLM2 and its
49,152 tokens, or for a vector of three numbers and four words.
"""

import math
from typing import Any

import torch
from torch import Tensor

from models.output import Projection, cross_entropy, softmax, top_k_accuracy
from viz.course import real
from viz.course.boards import Board, board, panel, table
from viz.course.inputs import InputError

WORDS = ("bark", "sleep", "meow", "fly")
WEIGHTS = ((1.5, -0.2, 0.4), (0.3, 0.8, 0.5), (-1.0, 0.6, 0.9), (-0.4, -1.2, 0.1))
BEST = 6  # tokens with a name
MOST = 40  # tokens
LOW, HIGH = 20, 500  # temperatures, in hundredths
MOMENTS = 8  # terms of the series for a step of descent


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
    """
    if network == "smollm2":
        return _language_model(text, target, rate, temperature)
    return _four_words(h, target, rate, temperature)


def _language_model(text: str, target: int, rate: float, temperature: float) -> dict[str, Any]:
    """Of the likeliest tokens, with all others taken together at the end."""
    read = head(text)
    logits, drops, moments = (read[each] for each in ("logits", "drops", "moments"))
    at = min(max(round(100 * temperature), LOW), HIGH)
    total = _log_sum([*drops, read["sums"][100 - LOW]])
    probabilities = [*(math.exp(each - total) for each in drops), moments[0]]
    gradient = [p - (n == target) for n, p in enumerate(probabilities)]
    divided = [100 * each / at for each in drops]
    tempered = _log_sum([*divided, read["sums"][at - LOW]])
    sampled = [math.exp(each - tempered) for each in divided]
    sampled.append(1 - sum(sampled))
    return {
        "network": "smollm2",
        "text": text,
        "words": [*read["words"], "all others"],
        "dim": len(read["h"]),
        **{each: read[each] for each in ("h", "norm", "rows", "cosines", "logits", "vocab")},
        "probabilities": probabilities,
        "target": target,
        "word": read["words"][target],
        "logit": logits[target],
        "probability": probabilities[target],
        "loss": -math.log(probabilities[target]),
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
        **real.about("smollm2", input=text),
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
    named = list(zip(logits, probabilities, gradient, strict=False))
    parts = [p * math.exp(-rate * slope) for _, p, slope in named]
    parts.append(sum((-rate) ** k / math.factorial(k) * each for k, each in enumerate(moments)))
    total = sum(parts)
    return {
        "logits": [logit - rate * slope for logit, _, slope in named],
        "probabilities": [part / total for part in parts],
        "probability": parts[target] / total,
        "loss": -math.log(parts[target] / total),
    }


def _log_sum(values: list[float]) -> float:
    """log Σ exp, where no exponential overflows."""
    most = max(values)
    return most + math.log(sum(math.exp(each - most) for each in values))


@real.of("smollm2")
def head(text: str) -> dict[str, Any]:
    """The last vector, the likeliest next tokens, and what the other tokens amount to.

    `drops` are logits minus the largest one. Of the tokens without a name, `sums` are
    log Σ exp(drop / T) for T = 0.20, 0.21, … 5.00, and `moments` Σ p^k for k = 1, 2, …
    """
    model: Any = real.opened("smollm2", "own")
    ids = torch.tensor([model.tokenizer.encode(text).ids])
    if not 1 <= ids.shape[1] <= MOST:
        raise InputError(f"expected 1 to {MOST} tokens, received {ids.shape[1]}")
    with torch.no_grad():
        out = model.network(ids, logits_to_keep=1)
    h, logits = out.hidden[0, -1], out.logits[0, -1].double()
    table = model.network.get_parameter("embedding.tokens.weight").detach()
    order = logits.argsort(descending=True, stable=True)
    drops = logits - logits.max()
    best, others = order[:BEST], drops[order[BEST:]]
    shares = (others - drops.logsumexp(0)).exp()
    return {
        "words": [real.word(model.tokenizer.text([id])) for id in best.tolist()],
        "h": h.tolist(),
        "norm": h.norm().item(),
        "rows": table[best].norm(dim=-1).tolist(),
        "cosines": torch.cosine_similarity(table[best], h[None]).tolist(),
        "logits": logits[best].tolist(),
        "drops": drops[best].tolist(),
        "sums": [(100 * others / each).logsumexp(0).item() for each in range(LOW, HIGH + 1)],
        "moments": [shares.pow(power).sum().item() for power in range(1, MOMENTS + 1)],
        "vocab": table.shape[0],
    }


def _four_words(h: list[float], target: int, rate: float, temperature: float) -> dict[str, Any]:
    logits, target = project(h), min(target, len(WORDS) - 1)
    loss, gradient = descent(logits, target)
    after = logits - rate * gradient
    exponentials = (logits - logits.max()).exp()
    probabilities, later = softmax(logits), softmax(after)
    first, second = logits.argsort(descending=True, stable=True)[:2].tolist()
    sampled = softmax(logits / temperature)
    return {
        "network": "words",
        "words": WORDS,
        "h": h,
        "weights": WEIGHTS,
        "logits": logits.tolist(),
        "exponentials": exponentials.tolist(),
        "total": exponentials.sum().item(),
        "probabilities": probabilities.tolist(),
        "target": target,
        "word": WORDS[target],
        "logit": logits[target].item(),
        "probability": probabilities[target].item(),
        "loss": loss,
        "gradient": gradient.tolist(),
        "slope": gradient[target].item(),
        "moved": {
            "logits": after.tolist(),
            "probabilities": later.tolist(),
            "probability": later[target].item(),
            "loss": descent(after, target)[0],
        },
        "best": WORDS[first],
        "second": WORDS[second],
        "gap": (logits[first] - logits[second]).item(),
        "ratio": (probabilities[first] / probabilities[second]).item(),
        "largest": probabilities[first].item(),
        "divided": (logits / temperature).tolist(),
        "sampled": sampled.tolist(),
        "sampled_largest": sampled.max().item(),
        "even": math.log(len(WORDS)),
    }


def project(h: list[float]) -> Tensor:
    """logits = W h of the four words: one dot product for each."""
    layer = Projection(len(h), len(WORDS), has_weight=False)
    return layer(torch.tensor([[h]]), torch.tensor(WEIGHTS))[0, 0]


def descent(logits: Tensor, target: int, smoothing: float = 0.0) -> tuple[float, Tensor]:
    """The loss, and its gradient with respect to the logits: probabilities minus the target."""
    leaf = logits.detach().clone().requires_grad_()
    with torch.enable_grad():
        loss = cross_entropy(leaf[None], torch.tensor([target]), smoothing=smoothing)
        (gradient,) = torch.autograd.grad(loss, leaf)
    return loss.item(), gradient


OTHERS = ((0.2, 1.1, 0.3), (-0.9, 0.4, 1.0), (0.1, -1.3, -0.2))  # vectors beside the reader's
TARGETS = (1, 2, 3)  # their right words


def smooth(h: list[float], target: int, smoothing: str) -> Board:
    """The loss against a target that is spread a little."""
    target, spread = min(target, len(WORDS) - 1), float(smoothing)
    logits, other = project(h), spread / len(WORDS)
    (sharp, plain), (loss, gradient) = (descent(logits, target, s) for s in (0.0, spread))
    wanted = [other + (1 - spread) * (n == target) for n in range(len(WORDS))]
    shares = softmax(logits).tolist()
    terms = [-w * math.log(p) for w, p in zip(wanted, shares, strict=True)]
    rows = dict(zip(WORDS, zip(wanted, shares, terms, strict=True), strict=True))
    slopes = zip(WORDS, zip(plain.tolist(), gradient.tolist(), strict=True), strict=True)
    cols = ["y not smoothed", "y smoothed"]
    return board(
        [
            table(
                "Loss",
                {**rows, "sum": (sum(wanted), sum(shares), sum(terms))},
                ["target y", "p", "−y log p"],
            )
        ],
        [table("Gradient p − y", dict(slopes), cols, kind="signed")],
        loss=loss,
        sharp=sharp,
        word=WORDS[target],
        share=wanted[target],
        other=other,
    )


def top_k(h: list[float], target: int) -> Board:
    """A batch of four vectors: the rank of the right word, and top-k accuracy."""
    logits = torch.stack([project([*each]) for each in (h, *OTHERS)])
    targets = [min(target, len(WORDS) - 1), *TARGETS]
    rows = {}
    for n, (row, right) in enumerate(zip(logits, targets, strict=True)):
        rank = 1 + int((row > row[right]).sum())
        shares = [f"{share:.3f}" for share in softmax(row).tolist()]
        name = "yours" if n == 0 else f"vector {n + 1}"
        rows[name] = [*shares, WORDS[right], str(rank), f"{descent(row, right)[0]:.3f}"]
    wanted = torch.tensor(targets)
    accuracy = [[top_k_accuracy(logits, wanted, k).item() for k in range(1, len(WORDS) + 1)]]
    cols = [*WORDS, "right", "rank", "loss"]
    return board(
        [table("Probabilities of a batch of four", rows, cols)],
        [panel("accuracy", accuracy, cols=[f"top-{k}" for k in range(1, 5)], kind="weights")],
        loss=cross_entropy(logits, wanted).item(),
    )


BOARDS = {"smooth": smooth, "topk": top_k}

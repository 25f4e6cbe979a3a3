"""From the last vector of SmolLM2 to logits, probabilities, loss and gradient; and four words."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from models.output import cross_entropy, softmax, top_k_accuracy
from viz.course import real
from viz.course.boards import Board, board, panel, signed, table

BEST = 6  # tokens with a name
MOST = 40  # tokens
MOMENTS = 8  # terms of the series for a step of descent


def numbers(text: str, target: int, rate: float) -> dict[str, Any]:
    """Every number from the vector to the loss, and after a step of descent.

    Of the likeliest tokens; all others are taken together at the end.

    Args:
        text: that SmolLM2 goes on with.
        target: place of the right word among the likeliest.
        rate: η, the size of the step: logit ← logit − η (p − y).
    """
    read = head(text)
    logits = torch.tensor(read["logits"]).double()
    chances = torch.tensor([*read["drops"], read["others"]]).double().softmax(-1)
    gradient = chances - F.one_hot(torch.tensor(target), BEST + 1)
    moved = chances * (-rate * gradient).exp()
    # each token p of the others has the factor exp(−η p), as a power series
    series = ((-rate) ** k / math.factorial(k) * each for k, each in enumerate(read["moments"]))
    moved[-1] = sum(series)
    moved /= moved.sum()
    gap = -read["drops"][1]
    return {
        **{each: read[each] for each in ("h", "norm", "rows", "cosines", "logits", "vocab")},
        "words": [*read["words"], "all others"],
        "dim": len(read["h"]),
        "probabilities": chances,
        "word": read["words"][target],
        "probability": chances[target],
        "loss": -chances[target].log(),
        "gradient": gradient,
        "slope": gradient[target],
        "moved": {
            "logits": logits - rate * gradient[:BEST],
            "probabilities": moved,
            "probability": moved[target],
            "loss": -moved[target].log(),
        },
        "best": read["words"][0],
        "second": read["words"][1],
        "gap": gap,
        "ratio": math.exp(gap),
        "rest": chances[-1],
        "even": math.log(read["vocab"]),
        **real.about("smollm2", input=text),
    }


@real.of("smollm2")
def head(text: str) -> dict[str, Any]:
    """The last vector, the likeliest next tokens, and what the other tokens amount to.

    `drops` are logits minus the largest one. Of the tokens without a name, `others` is
    log Σ exp(drop), and `moments` are Σ p^k for k = 1, 2, …
    """
    network: Any = real.opened("smollm2").network
    ids = torch.tensor([real.encoded("smollm2", text, most=MOST).ids])
    with torch.no_grad():
        out = network(ids, logits_to_keep=1)
    h, logits = out.hidden[0, -1], out.logits[0, -1].double()
    table = network.get_parameter("embedding.tokens.weight").detach()
    order = logits.argsort(descending=True, stable=True)
    drops = logits - logits.max()
    best, others = order[:BEST], drops[order[BEST:]]
    shares = (others - drops.logsumexp(0)).exp()
    return {
        "words": real.pieces(best),
        "h": h,
        "norm": h.norm(),
        "rows": table[best].norm(dim=-1),
        "cosines": torch.cosine_similarity(table[best], h[None]),
        "logits": logits[best],
        "drops": drops[best],
        "others": others.logsumexp(0),
        "moments": [shares.pow(power).sum() for power in range(1, MOMENTS + 1)],
        "vocab": table.shape[0],
    }


# ---- four words, and vectors of three numbers

WORDS: list[str] = ["bark", "sleep", "meow", "fly"]
WEIGHTS = torch.tensor([[1.5, -0.2, 0.4], [0.3, 0.8, 0.5], [-1.0, 0.6, 0.9], [-0.4, -1.2, 0.1]])
OTHERS = ((0.2, 1.1, 0.3), (-0.9, 0.4, 1.0), (0.1, -1.3, -0.2))  # vectors beside the reader's
TARGETS = (1, 2, 3)  # their right words


def descent(logits: Tensor, target: int, smoothing: float = 0.0) -> tuple[float, Tensor]:
    """The loss, and its gradient with respect to the logits: probabilities minus the target."""
    leaf = logits.detach().clone().requires_grad_()
    with torch.enable_grad():
        loss = cross_entropy(leaf[None], torch.tensor([target]), smoothing=smoothing)
        (gradient,) = torch.autograd.grad(loss, leaf)
    return loss.item(), gradient


def smooth(h: list[float], target: int, smoothing: str) -> Board:
    """The loss against a target that is spread a little."""
    target, spread = min(target, len(WORDS) - 1), float(smoothing)
    logits, other = WEIGHTS @ torch.tensor(h), spread / len(WORDS)
    (sharp, plain), (loss, gradient) = (descent(logits, target, s) for s in (0.0, spread))
    shares = softmax(logits)
    wanted = torch.full_like(shares, other)
    wanted[target] += 1 - spread
    terms = torch.stack([wanted, shares, -wanted * shares.log()], 1)
    terms = torch.cat([terms, terms.sum(0, keepdim=True)])
    slopes, look = torch.stack([plain, gradient], 1), {"cols": ["y not smoothed", "y smoothed"]}
    return board(
        [panel("Loss", terms, rows=[*WORDS, "sum"], cols=["target y", "p", "−y log p"], digits=4)],
        [signed("Gradient p − y", slopes, rows=WORDS, digits=4, **look)],
        loss=loss,
        sharp=sharp,
        word=WORDS[target],
        share=wanted[target],
        other=other,
    )


def top_k(h: list[float], target: int) -> Board:
    """A batch of four vectors: the rank of the right word, and top-k accuracy."""
    logits = torch.tensor([h, *OTHERS]) @ WEIGHTS.T
    targets = [min(target, len(WORDS) - 1), *TARGETS]
    rows = {}
    for n, (row, right) in enumerate(zip(logits, targets, strict=True)):
        rank, shares = 1 + int((row > row[right]).sum()), [f"{each:.3f}" for each in softmax(row)]
        name = f"vector {n + 1}" if n else "yours"
        rows[name] = [*shares, WORDS[right], str(rank), f"{descent(row, right)[0]:.3f}"]
    wanted = torch.tensor(targets)
    accuracy = [[top_k_accuracy(logits, wanted, k) for k in range(1, len(WORDS) + 1)]]
    return board(
        [table("Probabilities of a batch of four", rows, [*WORDS, "right", "rank", "loss"])],
        [panel("accuracy", accuracy, cols=[f"top-{k}" for k in range(1, 5)], kind="weights")],
        loss=cross_entropy(logits, wanted),
    )


BOARDS = {"smooth": smooth, "topk": top_k}

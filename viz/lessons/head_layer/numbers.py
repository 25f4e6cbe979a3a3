"""The head layer for one vector and four words: logits, probabilities, loss and gradient."""

from collections.abc import Mapping
from typing import Any

from viz.lessons.boards import Board, board, panel, table
from viz.lessons.head_layer import real
from viz.lessons.real import about

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
    loss = loss_steps.loss_steps(logits, target)
    moved = loss_steps.loss_steps(logits - rate * loss.gradient, target)
    first, second = loss.order[:2].tolist()
    probabilities = loss.probabilities.tolist()
    return {
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

    target, smoothing = values["target"], float(values["smoothing"])
    logits = loss_steps.project(torch.tensor(values["h"]), torch.tensor(WEIGHTS))
    plain, soft = (loss_steps.loss_steps(logits, target, smoothing=s) for s in (0.0, smoothing))
    share = smoothing / len(WORDS)
    wanted = [share + (1 - smoothing) * (n == target) for n in range(len(WORDS))]
    terms = [-w * p.log().item() for w, p in zip(wanted, soft.probabilities, strict=True)]
    rows = zip(
        wanted,
        soft.probabilities.tolist(),
        terms,
        plain.gradient.tolist(),
        soft.gradient.tolist(),
        strict=True,
    )
    cols = ["target y", "p", "−y log p", "gradient, sharp", "gradient p − y"]
    named = {word: list(row) for word, row in zip(WORDS, rows, strict=True)}
    return board(
        [table("A smoothed target", named, cols, kind="signed")],
        loss=soft.loss.item(),
        sharp=plain.loss.item(),
        share=wanted[target],
        other=share,
    )


def top_k(values: Mapping[str, Any]) -> Board:
    """A batch of four vectors: the rank of the right word, and top-k accuracy."""
    import torch

    from models.lessons import loss_steps
    from models.output import cross_entropy, softmax, top_k_accuracy

    weights = torch.tensor(WEIGHTS)
    vectors, targets = [values["h"], *OTHERS], [values["target"], *TARGETS]
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


def tied(values: Mapping[str, Any]) -> Board:
    """The head layer of a language model: the likeliest of 49,152 tokens."""
    read = real.head(values["text"])
    parts = ("rows", "cosines", "logits", "shares", "losses")
    rows: dict[str, list[float | str | None]] = {
        f"{rank}  {word}": [read[part][rank - 1] for part in parts]
        for rank, word in enumerate(read["words"], start=1)
    }
    cols = ["‖row‖", "cosine", "logit", "p", "−log p"]
    first, second = read["logits"][:2]
    return board(
        [table(f"h has norm {read['norm']:.1f}; logit = ‖h‖ ‖row‖ cosine", rows, cols, digits=3)],
        word=read["words"][0],
        second=read["words"][1],
        norm=read["norm"],
        row=read["rows"][0],
        cosine=read["cosines"][0],
        logit=first,
        gap=first - second,
        ratio=read["shares"][0] / read["shares"][1],
        share=read["shares"][0],
        loss=read["losses"][0],
        even=read["even"],
        vocab=read["vocab"],
        dim=read["dim"],
        rest=read["rest"],
        **about(real.MODEL, input=values["text"]),
    )


def language(values: Mapping[str, Any]) -> Board:
    """Loss, gradient and temperatures of a language model whose target is one of its best four."""
    read = real.head(values["text"])
    words, shares, tempered = read["words"], read["shares"], read["tempered"]
    target = values["target"]
    rows: dict[str, list[float | str | None]] = {}
    for n, (word, share) in enumerate(zip(words, shares, strict=True)):
        wanted = float(n == target)
        rows[f"{n + 1}  {word}"] = [share, wanted, share - wanted, *(t[n] for t in tempered)]
    rests = [1 - sum(each) for each in tempered]
    rows["all others"] = [read["rest"], 0.0, read["rest"], *rests]
    cols = ["p", "y", "p − y", *(f"p, T = {each:g}" for each in real.TEMPERATURES)]
    return board(
        [table("The next token in SmolLM2", rows, cols, digits=3)],
        word=words[target],
        probability=shares[target],
        loss=read["losses"][target],
        slope=shares[target] - 1,
        best=words[0],
        largest=shares[0],
        cold=tempered[0][0],
        hot=tempered[1][0],
        rest=read["rest"],
        others=rests[1],
        **about(real.MODEL, input=values["text"]),
    )


BOARDS = {"smooth": smooth, "tied": tied, "topk": top_k, "language": language}

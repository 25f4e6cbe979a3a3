"""What the figure of the decoder shows of one pass: weights, and predictions at every position."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

    from models.lessons.mask_edge import Seen

BEST = 3  # candidates for the next token


def weights(seen: "Seen", layer: int, head: int) -> dict[str, Any]:
    """Of one head, with the scores before the mask."""
    from models.attention import Mask

    pattern = seen.patterns[layer]
    unmasked = replace(pattern, mask=Mask()).scores(head, item=0)
    visible = pattern.scores(head, item=0).isfinite()
    return {
        "scores": unmasked.tolist(),
        "visible": visible.tolist(),
        "weights": pattern.weights(head, item=0).tolist(),
        "hidden": int((~visible).sum()),
        "sees": visible.sum(-1).tolist(),
    }


def predictions(seen: "Seen", ids: "Tensor", name: Callable[[int], str]) -> dict[str, Any]:
    """The likeliest tokens at every position, and the probability of the one that comes next."""
    best = seen.probabilities.topk(BEST)
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    answers = seen.of_answers(ids)
    return {
        "best": [
            [{"token": name(id), "share": share} for id, share in zip(*row, strict=True)]
            for row in pairs
        ],
        "answers": [*map(name, ids[1:].tolist()), None],
        "answer_shares": [*answers.tolist(), None],
        "mean_share": answers.mean().item(),
    }


def fell(causal: "Tensor", now: "Tensor", narrow: "Tensor", names: list[str]) -> dict[str, Any]:
    """The position whose prediction of the next token suffers most by the move of the mask.

    Args:
        causal: probabilities of the tokens that come next, under the causal mask.
        now: under the mask as it is; where they equal `causal`, `narrow` decides.
        narrow: under a narrow window.
        names: of the tokens.
    """
    at = int((causal - (narrow if now.equal(causal) else now)).argmax())
    return {
        "token": names[at],
        "answer": names[at + 1],
        "causal": causal[at].item(),
        "now": now[at].item(),
    }

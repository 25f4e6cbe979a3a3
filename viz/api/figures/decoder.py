"""A small trained decoder that writes, under a mask whose edges can be moved."""

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from viz.api.figures.trained import encoded, trained
from viz.api.requests import QuestionError

if TYPE_CHECKING:
    from torch import Tensor

    from models.lessons.mask_edge import Seen

MODEL = "grammar-next"
MOST = 11  # tokens that the picture has room for
LONGEST = 7  # of them, at the start
HEADS = 2  # per layer
END = "."
BEST = 3  # candidates for the next token


class Written(NamedTuple):
    """A text as the network goes on with it.

    Attributes:
        ids: the start, then what was written.
        start: number of tokens of the start.
        difference: largest difference of a probability with and without cached keys and values.
    """

    ids: tuple[int, ...]
    start: int
    difference: float


def numbers(
    text: str, written: int, window: int, ahead: int, network: str, head: int
) -> dict[str, Any]:
    """Weights of a head and predictions at every position, under a mask.

    Args:
        text: the start.
        written: number of tokens that the trained network adds.
        window: see `Band`.
        ahead: see `Band`.
        network: "trained", or "copying", which has one head.
        head: counted through both layers.

    Raises:
        QuestionError: for words that the network does not know, or too many of them.
    """
    import torch

    _, card = trained(MODEL)
    found = _written(text)
    kept = found.ids[: found.start + written]
    seen, causal = _seen(kept, network, window, ahead), _seen(kept, network, MOST, 0)
    layer, index = (0, 0) if network == "copying" else divmod(head, HEADS)
    ids = torch.tensor(kept)
    names = [_shown(card.tokens[id]) for id in found.ids]
    count = len(ids)
    return {
        "tokens": names[:count],
        "start": found.start,
        "network": network,
        "left": len(found.ids) - count,
        "difference": found.difference,
        **_weights(seen, layer, index),
        **_predictions(seen, ids, [_shown(name) for name in card.tokens]),
        "fell": _fell(causal.of_answers(ids), seen.of_answers(ids), names),
    }


def _weights(seen: "Seen", layer: int, head: int) -> dict[str, Any]:
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


def _predictions(seen: "Seen", ids: "Tensor", names: list[str]) -> dict[str, Any]:
    """The likeliest tokens at every position, and the probability of the one that comes next."""
    best = seen.probabilities.topk(BEST)
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    answers = seen.of_answers(ids)
    return {
        "best": [
            [{"token": names[id], "share": share} for id, share in zip(*row, strict=True)]
            for row in pairs
        ],
        "answers": [*(names[id] for id in ids[1:].tolist()), None],
        "answer_shares": [*answers.tolist(), None],
        "mean_share": answers.mean().item(),
    }


def _fell(causal: "Tensor", now: "Tensor", names: list[str]) -> dict[str, Any]:
    """The position whose prediction of the next token suffers most by the move of the mask."""
    at = int((causal - now).argmax())
    return {
        "token": names[at],
        "answer": names[at + 1],
        "causal": causal[at].item(),
        "now": now[at].item(),
    }


@lru_cache(maxsize=256)
def _seen(ids: tuple[int, ...], network: str, window: int, ahead: int) -> "Seen":
    """One pass over these tokens."""
    import torch

    from models.lessons import mask_edge

    model, card = trained(MODEL)
    band = mask_edge.Band(window, ahead)
    if network == "copying":
        return mask_edge.copied(torch.tensor(ids), len(card.tokens), band)
    return mask_edge.predicted(model.network, torch.tensor(ids), band)


@lru_cache(maxsize=256)
def _written(text: str) -> Written:
    """The start of a text and what the network writes after it, as far as there is room."""
    import torch

    from models.decode import greedy

    model, card = trained(MODEL)
    unknown = [word for word in text.lower().split() if word not in card.tokens]
    if unknown:
        raise QuestionError(f"expected words such as king, dog, saw, the; received {unknown[0]!r}")
    ids = list(encoded(MODEL, text).ids)
    if not 2 <= len(ids) <= LONGEST:
        raise QuestionError(f"expected 1 to {LONGEST - 1} words, received {len(ids) - 1}")
    end, room = card.tokens.index(END), MOST - len(ids)
    runs = [
        list(greedy(model.network, torch.tensor([ids]), end=end, limit=room, cached=cached))
        for cached in (True, False)
    ]
    pairs = zip(*runs, strict=True)
    difference = max(float((a.probabilities - b.probabilities).abs().max()) for a, b in pairs)
    return Written((*ids, *(int(step.ids[0]) for step in runs[0])), len(ids), difference)


def _shown(token: str) -> str:
    """A token as a label: the begin symbol without its brackets."""
    return "begin" if token == "[BEGIN]" else token

"""A small trained decoder that writes, under a mask whose edges can be moved."""

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.lessons.boards import Board, board, panel, table
from viz.lessons.trained import trained
from viz.lessons.writing import MODEL, label
from viz.lessons.writing import written as written_after

if TYPE_CHECKING:
    from torch import Tensor

    from models.lessons.mask_edge import Seen

MOST = 11  # tokens that the picture has room for
LONGEST = 7  # of them, at the start
HEADS = 2  # per layer
BEST = 3  # candidates for the next token
NARROW = 3  # window whose effect is named before the mask has been moved


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
        InputError: for words that the network does not know, or too many of them.
    """
    import torch

    _, card = trained(MODEL)
    found = written_after(text, LONGEST, MOST)
    kept = found.ids[: found.start + written]
    seen, causal = _seen(kept, network, window, ahead), _seen(kept, network, MOST, 0)
    layer, index = (0, 0) if network == "copying" else divmod(head, HEADS)
    ids = torch.tensor(kept)
    names = [label(card.tokens[id]) for id in found.ids]
    count = len(ids)
    return {
        "tokens": names[:count],
        "start": found.start,
        "network": network,
        "left": len(found.ids) - count,
        "difference": found.difference,
        **_weights(seen, layer, index),
        **_predictions(seen, ids, [label(name) for name in card.tokens]),
        "fell": _fell(
            causal.of_answers(ids),
            seen.of_answers(ids),
            _seen(kept, network, NARROW, 0).of_answers(ids),
            names,
        ),
        "sight": {
            each: {
                "causal": _seen(kept, each, MOST, 0).of_answers(ids).mean().item(),
                "unmasked": _seen(kept, each, MOST, MOST - 1).of_answers(ids).mean().item(),
            }
            for each in ("trained", "copying")
        },
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


def _fell(causal: "Tensor", now: "Tensor", narrow: "Tensor", names: list[str]) -> dict[str, Any]:
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


PADDED = ("the", "dog", "saw", "[PAD]", "[PAD]")
ALL_HIDDEN = (0.3, -1.0, 2.0, 0.7)  # scores of a query whose keys are all hidden


def padding() -> Board:
    """Weights of a padded text under a causal mask, and of a query that sees no key."""
    import torch

    from models.attention import Mask, attend
    from models.lessons.hidden_row import hidden_row
    from models.seeding import seeded

    count = len(PADDED)
    with seeded(1):
        q, k = torch.randn(2, 1, 1, count, 4)
    hidden = torch.tensor([[word == "[PAD]" for word in PADDED]])
    _, pattern = attend(q, k, k, mask=Mask(causal=True, padding=hidden))
    weights = pattern.weights(0, item=0)
    visible = pattern.scores(0, item=0).isfinite().tolist()
    shown = [
        [value if seen else None for value, seen in zip(*row, strict=True)]
        for row in zip(weights.tolist(), visible, strict=True)
    ]
    rows = {
        name: ["0 / 0" if each != each else f"{each:.4f}" for each in found.tolist()]
        for name, found in hidden_row(torch.tensor(ALL_HIDDEN)).items()
    }
    cols = [f"score {score}".replace("-", "−") for score in ALL_HIDDEN]
    return board(
        [panel("weights of a padded text", shown, rows=PADDED, cols=PADDED, kind="weights")],
        [table("a query whose keys are all hidden", rows, cols)],
    )


BOARDS = {"padding": lambda _: padding()}

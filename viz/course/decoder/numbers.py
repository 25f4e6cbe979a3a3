"""A decoder that writes, under a mask whose edges can be moved: SmolLM2, or a small one."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from viz.course.boards import Board, board, panel, table
from viz.course.decoder import parts, real
from viz.course.real import about
from viz.course.trained import trained
from viz.course.writing import MODEL, label
from viz.course.writing import written as written_after

if TYPE_CHECKING:
    from models.lessons.mask_edge import Seen

MOST = 11  # tokens that the picture has room for
LONGEST = 7  # of them, at the start
HEADS = 2  # per layer
NARROW = 3  # window whose effect is named before the mask has been moved


def numbers(
    text: str, written: int, window: int, ahead: int, network: str, head: int, place: str
) -> dict[str, Any]:
    """Weights of a head and predictions at every position, under a mask.

    Args:
        text: the start.
        written: number of tokens that the network adds.
        window: see `Band`.
        ahead: see `Band`.
        network: "smollm2"; "trained", a small one; or "copying", which has one head.
        head: of the small one, counted through both layers.
        place: layer and head of SmolLM2.

    Raises:
        InputError: for words that the network does not know, or too many of them.
    """
    if network == "smollm2":
        return _language_model(text, written, window, ahead, place)
    return _small(text, written, window, ahead, network, head)


def _language_model(text: str, written: int, window: int, ahead: int, place: str) -> dict[str, Any]:
    layer, head = map(int, place.split("."))
    whole = real.continued(text, LONGEST, MOST)
    ids = tuple(whole["ids"][: whole["start"] + written])
    edges = min(window, len(ids)), min(ahead, len(ids) - 1)
    said = "".join(whole["pieces"][: len(ids)])
    return {
        **real.read(ids, *edges, layer, head, NARROW),
        "start": whole["start"],
        "network": real.MODEL,
        "left": len(whole["ids"]) - len(ids),
        "difference": whole["difference"],
        "layer": layer,
        "head": head,
        **about(real.MODEL, input=said, layer=layer, head=head, token=len(ids) - 1),
    }


def _small(
    text: str, written: int, window: int, ahead: int, network: str, head: int
) -> dict[str, Any]:
    """Of the networks that were trained for the app, or set by hand."""
    import torch

    _, card = trained(MODEL)
    sample = written_after(text, LONGEST, MOST)
    kept = sample.ids[: sample.start + written]
    seen, causal = _seen(kept, network, window, ahead), _seen(kept, network, MOST, 0)
    layer, index = (0, 0) if network == "copying" else divmod(head, HEADS)
    ids = torch.tensor(kept)
    names = [label(card.tokens[id]) for id in sample.ids]
    count = len(ids)
    narrow = _seen(kept, network, NARROW, 0)
    whole, now, few = (each.of_answers(ids) for each in (causal, seen, narrow))
    return {
        "tokens": names[:count],
        "start": sample.start,
        "network": network,
        "left": len(sample.ids) - count,
        "difference": sample.difference,
        **parts.weights(seen, layer, index),
        **parts.predictions(seen, ids, lambda id: label(card.tokens[id])),
        "fell": parts.fell(whole, now, few, names),
        "sight": {
            each: {
                "causal": _seen(kept, each, MOST, 0).of_answers(ids).mean().item(),
                "unmasked": _seen(kept, each, MOST, MOST - 1).of_answers(ids).mean().item(),
            }
            for each in ("trained", "copying")
        },
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
    visible_weights = [
        [value if seen else None for value, seen in zip(*row, strict=True)]
        for row in zip(weights.tolist(), visible, strict=True)
    ]
    rows = {
        name: ["0 / 0" if each != each else f"{each:.4f}" for each in row_of_weights.tolist()]
        for name, row_of_weights in hidden_row(torch.tensor(ALL_HIDDEN)).items()
    }
    cols = [f"score {score}".replace("-", "−") for score in ALL_HIDDEN]
    return board(
        [
            panel(
                "weights of a padded text",
                visible_weights,
                rows=PADDED,
                cols=PADDED,
                kind="weights",
            )
        ],
        [table("a query whose keys are all hidden", rows, cols)],
    )


BOARDS = {"padding": lambda _: padding()}

"""A decoder that writes, under a mask whose edges can be moved: SmolLM2, or a small one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from models.attention import Mask, Pattern, attend
from models.seeding import seeded
from viz.course import real
from viz.course.boards import Board, board, panel, table
from viz.course.numbers import CAUSAL, goes_on, smollm2_writes

SMALL = "grammar-next"
MOST, LONGEST = 11, 7  # tokens that the picture has room for; of them, at the start
HEADS = 2  # per layer of the small network
NARROW = 3  # window whose effect is named before the mask has been moved
BEST = 3  # candidates for the next token
SHARPNESS = 12.0  # score of the next position for the copying head; all others score 0


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
    """
    if network != "smollm2":
        return _small(text, written, window, ahead, network, head)
    layer, head = map(int, place.split("."))
    whole = continued(text, LONGEST, MOST)
    ids = tuple(whole["ids"][: whole["start"] + written])
    edges = min(window, len(ids)), min(ahead, len(ids) - 1)
    said = "".join(whole["pieces"][: len(ids)])
    return {
        **read(ids, *edges, layer, head, NARROW),
        "start": whole["start"],
        "left": len(whole["ids"]) - len(ids),
        "difference": whole["difference"],
        "layer": layer,
        "head": head,
        **real.about("smollm2", input=said, layer=layer, head=head, token=len(ids) - 1),
    }


def _small(
    text: str, written: int, window: int, ahead: int, network: str, head: int
) -> dict[str, Any]:
    """Of the networks that were trained for the app, or set by hand."""
    whole, start, difference = _continued(text)
    ids = whole[: start + written]
    layer, index = (0, 0) if network == "copying" else divmod(head, HEADS)
    passes = [_seen(ids, network, *each) for each in ((MOST, 0), (window, ahead), (NARROW, 0))]
    sights = {"causal": 0, "unmasked": MOST - 1}
    return {
        **_pass(passes, ids, layer, index, _word),
        "start": start,
        "left": len(whole) - len(ids),
        "difference": difference,
        "sight": {
            each: {
                name: _seen(ids, each, MOST, later).of_answers(ids).mean()
                for name, later in sights.items()
            }
            for each in ("trained", "copying")
        },
    }


def _word(id: int) -> str:
    token = real.card_of(SMALL).tokens[id]
    return "begin" if token == "[BEGIN]" else token


@lru_cache(maxsize=256)
def _continued(text: str) -> tuple[tuple[int, ...], int, float]:
    """A text and what the small network writes after it, the start's length, and the difference."""
    tokens = real.card_of(SMALL).tokens
    real.check_known(text.lower().split(), tokens, "words such as king, dog, saw, the")
    ids = list(real.encoded(SMALL, text).ids)
    real.check(len(ids) - 1, 1, LONGEST - 1, "words")
    network, end = real.opened(SMALL).network, tokens.index(".")
    whole, difference = goes_on(network, ids, MOST, end.__eq__)
    return tuple(whole), len(ids), difference


@dataclass(frozen=True)
class Band:
    """An edit that replaces the mask by a band of keys; with `ahead` = 0 it can be the causal one.

    Attributes:
        window: number of keys a query sees up to its own position, itself included.
        ahead: number of later keys it sees.
    """

    window: int
    ahead: int

    def mask(self, count: int) -> Mask:
        """For as many queries as keys."""
        distance = torch.arange(count)[:, None] - torch.arange(count)
        return Mask(dense=((distance < self.window) & (distance >= -self.ahead))[None, None])

    def edit_recipe(self, pattern: Pattern) -> Pattern:
        return replace(pattern, mask=self.mask(pattern.keys))


@dataclass(frozen=True, eq=False)
class Seen:
    """One pass over a text: patterns, and probabilities "token vocab" of what comes next."""

    patterns: tuple[Pattern, ...]
    probabilities: Tensor

    def of_answers(self, ids: tuple[int, ...]) -> Tensor:
        """The probability, at each position but the last, of the token that does come next."""
        return self.probabilities[:-1].gather(1, torch.tensor(ids)[1:, None])[:, 0]


@lru_cache(maxsize=256)
def _seen(ids: tuple[int, ...], network: str, window: int, ahead: int) -> Seen:
    """What a network sees and predicts under a mask."""
    band = Band(window, ahead)
    if network == "copying":
        return copied(torch.tensor(ids), len(real.card_of(SMALL).tokens), band)
    model = real.opened(SMALL if network == "trained" else "smollm2")
    with torch.no_grad():
        out = model.network(torch.tensor([ids]), edits=[band])
    return Seen(out.patterns, out.logits[0].softmax(-1))


def copied(ids: Tensor, vocab: int, band: Band) -> Seen:
    """What a head that copies predicts: set by hand, it looks for the next position.

    Its queries and keys are one-hot positions, its values one-hot tokens, so its output is a
    mixture of the tokens it sees: with the next position in sight almost only the answer.
    """
    count = len(ids)
    keys = torch.eye(count + 1)[:count]
    queries = SHARPNESS * (count + 1) ** 0.5 * torch.eye(count + 1)[1:]
    values = F.one_hot(ids, vocab).float()
    mask = band.mask(count)
    out, pattern = attend(queries[None, None], keys[None, None], values[None, None], mask=mask)
    return Seen((pattern,), out[0, 0])


@real.of("smollm2")
def continued(text: str, longest: int, most: int) -> dict[str, Any]:
    """The start of a text and what the network writes after it, to the end of the sentence."""
    return smollm2_writes(text, longest, most)


@real.of("smollm2")
def read(
    ids: tuple[int, ...], window: int, ahead: int, layer: int, head: int, narrow: int
) -> dict[str, Any]:
    """Weights of a head and predictions at every position, under a mask."""
    edges = (len(ids), 0), (window, ahead), (narrow, 0)
    passes = [_seen(ids, "smollm2", *each) for each in edges]
    return _pass(passes, ids, layer, head, real.piece)


def _pass(
    passes: list[Seen], ids: tuple[int, ...], layer: int, head: int, name: Callable[[int], str]
) -> dict[str, Any]:
    """Weights of one head, the likeliest tokens, and where the move of the mask costs most.

    Passes are those under the causal mask, under the mask as it is, and under a narrow window,
    which decides where the mask has not been moved.
    """
    causal, seen, narrow = passes
    pattern = seen.patterns[layer]
    visible = pattern.scores(head, item=0).isfinite()
    whole, now, few = (each.of_answers(ids) for each in (causal, seen, narrow))
    most = int((whole - (few if now.equal(whole) else now)).argmax())
    names = [*map(name, ids)]
    fell = {"token": names[most], "answer": names[most + 1]}
    return {
        "tokens": names,
        "scores": replace(pattern, mask=Mask()).scores(head, item=0),
        "visible": visible,
        "weights": pattern.weights(head, item=0),
        "hidden": (~visible).sum(),
        "sees": visible.sum(-1),
        "best": [real.likeliest(row, BEST, name) for row in seen.probabilities],
        "answers": [*names[1:], None],
        "answer_shares": [*now, None],
        "mean_share": now.mean(),
        "fell": {**fell, "causal": whole[most], "now": now[most]},
    }


PADDED = ("the", "dog", "saw", "[PAD]", "[PAD]")
ALL_HIDDEN = (0.3, -1.0, 2.0, 0.7)  # scores of a query whose keys are all hidden


def padding() -> Board:
    """Weights of a padded text under a causal mask, and of a query that sees no key."""
    with seeded(1):
        q, k = torch.randn(2, 1, 1, len(PADDED), 4)
    hidden = torch.tensor([[word == "[PAD]" for word in PADDED]])
    _, pattern = attend(q, k, k, mask=replace(CAUSAL, padding=hidden))
    weights, seen = pattern.weights(0, item=0), pattern.scores(0, item=0).isfinite()
    cells = [
        [value if can else None for value, can in zip(*row, strict=True)]
        for row in zip(weights.tolist(), seen, strict=True)
    ]
    rows = {
        name: ["0 / 0" if each != each else f"{each:.4f}" for each in row]
        for name, row in hidden_row(torch.tensor(ALL_HIDDEN)).items()
    }
    cols = [f"score {score}".replace("-", "−") for score in ALL_HIDDEN]
    map_ = panel("weights of a padded text", cells, rows=PADDED, cols=PADDED, kind="weights")
    return board([map_], [table("a query whose keys are all hidden", rows, cols)])


def hidden_row(scores: Tensor) -> dict[str, Tensor]:
    """The weights of one query whose keys are all masked, by method; NaN where undefined.

    If every score is −∞, the softmax is 0/0 = NaN. If every score is −10⁹, the softmax, which
    depends on differences only, is uniform: the query attends to the very keys the mask should
    hide. In half precision −10⁹ overflows to −∞.
    """
    q, k = scores.new_ones(1, 1, 1, 1), scores[None, None, :, None]
    nothing = torch.zeros(1, 1, 1, len(scores), dtype=torch.bool)

    def ours(fill: float | None) -> Tensor:
        _, pattern = attend(q, k, k, mask=Mask(dense=nothing, fill=fill))
        return pattern.weights(0, item=0)[0]

    return {
        "−∞, as here": ours(None),
        "−∞, a plain softmax": torch.full_like(scores, -torch.inf).softmax(-1),
        "−1e9": ours(-1e9),
        "−1e9 in half precision": torch.full_like(scores, -1e9).half().float().softmax(-1),
    }


BOARDS = {"padding": padding}

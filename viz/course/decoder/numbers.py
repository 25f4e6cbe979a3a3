"""SmolLM2 writes under a mask whose edges can be moved; a head copies what it should predict."""

from dataclasses import dataclass, replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from models.attention import Mask, Pattern, attend
from models.seeding import seeded
from viz.course import real
from viz.course.boards import Board, board, panel, table
from viz.course.numbers import CAUSAL, goes_on, smollm2_writes

MOST, LONGEST = 11, 7  # tokens that the picture has room for; of them, at the start
BEST = 3  # candidates for the next token


def numbers(text: str, written: int, window: int, ahead: int, place: str) -> dict[str, Any]:
    """Weights of a head of SmolLM2 and predictions at every position, under a `Band`."""
    layer, head = map(int, place.split("."))
    whole = continued(text, LONGEST, MOST)
    ids = tuple(whole["ids"][: whole["start"] + written])
    edges = min(window, len(ids)), min(ahead, len(ids) - 1)
    said = "".join(whole["pieces"][: len(ids)])
    return {
        **read(ids, *edges, layer, head),
        "start": whole["start"],
        "left": len(whole["ids"]) - len(ids),
        "layer": layer,
        "head": head,
        **real.about("smollm2", input=said, layer=layer, head=head, token=len(ids) - 1),
    }


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


def seen(model: str, ids: tuple[int, ...], band: Band) -> Seen:
    """What a network sees and predicts under a mask."""
    with torch.no_grad():
        out = real.opened(model).network(torch.tensor([ids]), edits=[band])
    return Seen(out.patterns, out.logits[0].softmax(-1))


@real.of("smollm2")
def continued(text: str, longest: int, most: int) -> dict[str, Any]:
    """The start of a text and what the network writes after it, to the end of the sentence."""
    return smollm2_writes(text, longest, most)


@real.of("smollm2")
def read(ids: tuple[int, ...], window: int, ahead: int, layer: int, head: int) -> dict[str, Any]:
    """Weights of a head and predictions at every position, under a mask."""
    edges = (len(ids), 0), (window, ahead)
    causal, now = (seen("smollm2", ids, Band(*each)) for each in edges)
    pattern = now.patterns[layer]
    visible = pattern.scores(head, item=0).isfinite()
    whole, shares = (each.of_answers(ids) for each in (causal, now))
    # where the move of the mask costs most, or, if it has not been moved, the surest prediction
    most = int((whole if shares.equal(whole) else whole - shares).argmax())
    names = [*map(real.piece, ids)]
    fell = {"token": names[most], "answer": names[most + 1]}
    return {
        "tokens": names,
        "scores": replace(pattern, mask=Mask()).scores(head, item=0),
        "visible": visible,
        "weights": pattern.weights(head, item=0),
        "hidden": (~visible).sum(),
        "best": [real.likeliest(row, BEST, real.piece) for row in now.probabilities],
        "answers": [*names[1:], None],
        "answer_shares": [*shares, None],
        "mean_share": shares.mean(),
        "fell": {**fell, "causal": whole[most], "now": shares[most]},
    }


SMALL = "grammar-next"
SENTENCE, WHOLE = "the king saw", 9  # and the tokens that it becomes
SHARPNESS = 12.0  # score of the next position for the copying head; all others score 0


def cheat() -> Board:
    """Probabilities of the right token with and without a mask: copied, or as trained with it."""
    tokens = real.card_of(SMALL).tokens
    start, end = real.encoded(SMALL, SENTENCE).ids, tokens.index(".")
    ids = tuple(goes_on(real.opened(SMALL), [*start], WHOLE, end.__eq__)[0])
    bands = {"under the mask": Band(MOST, 0), "no mask": Band(MOST, MOST - 1)}
    copies = [copied(torch.tensor(ids), len(tokens), band) for band in bands.values()]
    trained = [seen(SMALL, ids, band) for band in bands.values()]
    shares = {
        name: [each.of_answers(ids).mean().item() for each in both]
        for name, both in (("copies", copies), ("trained under the mask", trained))
    }
    names = ["begin", *(tokens[id] for id in ids[1:])]
    look: dict[str, Any] = {"cols": names, "kind": "weights", "digits": -1}
    maps = zip(bands, (masked(each.patterns[0]) for each in copies), strict=True)
    first, second = (panel(f"copies, {name}", cells, **look) for name, cells in maps)
    return board(
        [{**first, "rows": names}, second],
        [table("Mean probability of the right token", shares, [*bands], kind="weights", digits=2)],
        copying=shares["copies"],
        trained=shares["trained under the mask"],
    )


def masked(pattern: Pattern) -> list[list[float | None]]:
    """The weights of a pattern's first head; None where a key is masked."""
    weights, seen = pattern.weights(0, item=0), pattern.scores(0, item=0).isfinite()
    return [
        [value if can else None for value, can in zip(*row, strict=True)]
        for row in zip(weights.tolist(), seen, strict=True)
    ]


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


PADDED = ("the", "dog", "saw", "[PAD]", "[PAD]")
ALL_HIDDEN = (0.3, -1.0, 2.0, 0.7)  # scores of a query whose keys are all hidden


def padding() -> Board:
    """Weights of a padded text under a causal mask, and of a query that sees no key."""
    with seeded(1):
        q, k = torch.randn(2, 1, 1, len(PADDED), 4)
    hidden = torch.tensor([[word == "[PAD]" for word in PADDED]])
    _, pattern = attend(q, k, k, mask=replace(CAUSAL, padding=hidden))
    rows = {
        name: ["0 / 0" if each != each else f"{each:.4f}" for each in row]
        for name, row in hidden_row(torch.tensor(ALL_HIDDEN)).items()
    }
    cols = [f"score {score}".replace("-", "−") for score in ALL_HIDDEN]
    look = {"rows": PADDED, "cols": PADDED, "kind": "weights"}
    map_ = panel("weights of a padded text", masked(pattern), **look)
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


BOARDS = {"cheat": cheat, "padding": padding}

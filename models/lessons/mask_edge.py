"""What a decoder sees and predicts as the edge of its mask moves, and what copying would achieve.

A band of keys is visible to each query: from `window` − 1 positions before it to `ahead` positions
after it. With `ahead` = 0 and a window over the whole text it is the causal mask.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.attention import Mask, Pattern, attend
from models.decoder import Decoder

SHARPNESS = 12.0  # score of the next position for the copying head; all others score 0


@dataclass(frozen=True)
class Band:
    """An edit that replaces the mask.

    Attributes:
        window: number of keys a query sees up to its own position, itself included.
        ahead: number of later keys it sees.
    """

    window: int
    ahead: int

    def mask(self, queries: int, keys: int) -> Mask:
        """The band for queries and keys that start at the same position."""
        distance = torch.arange(queries)[:, None] - torch.arange(keys)
        return Mask(dense=((distance < self.window) & (distance >= -self.ahead))[None, None])

    def edit_recipe(self, pattern: Pattern) -> Pattern:
        return replace(pattern, mask=self.mask(pattern.queries, pattern.keys))


@dataclass(frozen=True, eq=False)
class Seen:
    """One pass over a text.

    Attributes:
        patterns: one per layer.
        probabilities: at each position, of every token to come next.
    """

    patterns: tuple[Pattern, ...]
    probabilities: Float[Tensor, "token vocab"]

    def of_answers(self, ids: Int[Tensor, " token"]) -> Float[Tensor, " answer"]:
        """The probability, at each position but the last, of the token that does come next."""
        return self.probabilities[:-1].gather(1, ids[1:, None])[:, 0]


def predicted(network: Decoder, ids: Int[Tensor, " token"], band: Band) -> Seen:
    """What a trained network predicts under this mask, at every position."""
    with torch.no_grad():
        out = network(ids[None], edits=[band])
    return Seen(out.patterns, out.logits[0].softmax(-1))


def copied(ids: Int[Tensor, " token"], vocab: int, band: Band) -> Seen:
    """What a head that copies predicts: set by hand, it looks for the next position.

    Its queries and keys are one-hot positions, its values one-hot tokens, so its output is a
    mixture of the tokens it sees: with the next position in sight almost only the answer.
    """
    count = len(ids)
    keys = torch.eye(count + 1)[:count]
    queries = SHARPNESS * (count + 1) ** 0.5 * torch.eye(count + 1)[1:]
    values = torch.nn.functional.one_hot(ids, vocab).float()
    mask = band.mask(count, count)
    out, pattern = attend(queries[None, None], keys[None, None], values[None, None], mask=mask)
    return Seen((pattern,), out[0, 0])

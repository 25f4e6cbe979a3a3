"""Faithfulness: does removing what is called relevant change the output?

    comprehensiveness(k) = p(x) − p(x without its k most relevant tokens)     large is faithful
    sufficiency(k)       = p(x) − p(only the k most relevant tokens of x)     small is faithful
    deletion(k)          = p(x with its k most relevant patches in grey)      a small area is
    insertion(k)         = p(x blurred, but for its k most relevant patches)  a large area is

Beside them, the same for random orders: a method that is no better than those says nothing. Inputs
with tokens removed are unlike those a model was trained on, so that a change does not prove a cause
either.

Source: DeYoung et al. 2020, "ERASER", section 4; for pictures Samek et al. 2017, and Petsiuk et al.
2018, "RISE", section 4.2.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from analysis.target import Target, choose, mask_id
from models.inputs.pictures import grey_of, pixels_of
from models.progress import Progress, bar, each
from models.run import Model, as_model, trace
from models.shown import one_line
from models.trace import Output, Trace

Removal = Literal["mask", "drop", "grey", "blur"]
Kind = Literal["deletion", "insertion"]
REMOVED: dict[Kind, Removal] = {"deletion": "grey", "insertion": "blur"}
LEVELS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)
TENTHS = tuple(number / 10 for number in range(11))
ORDERS = 8  # random orders beside the relevance
BATCH_TOKENS = 8192  # at most, of the inputs that are run at once
BLUR, SIGMA = 11, 5.0  # side and standard deviation of the Gaussian, in pixels
SAME = 1e-3  # outputs of one input differ less than this, relative to 1 or the larger


@dataclass(frozen=True, eq=False)
class Faithfulness:
    """Curves over the share of tokens that is removed, or kept.

    Attributes:
        value: p(x): a probability, or a cosine similarity.
        counts: how many tokens are removed (comprehensiveness) or kept (sufficiency).
        comprehensiveness: drop of p without the most relevant ones.
        sufficiency: drop of p with them alone.
        random_comprehensiveness: the same of random orders.
        random_sufficiency: the same of random orders.
        removal: how tokens were removed.
    """

    value: float
    counts: Int[Tensor, " level"]
    comprehensiveness: Float[Tensor, " level"]
    sufficiency: Float[Tensor, " level"]
    random_comprehensiveness: Float[Tensor, "order level"]
    random_sufficiency: Float[Tensor, "order level"]
    removal: Removal

    def __repr__(self) -> str:
        return one_line(self)


class Study:
    """One input, from which tokens are removed in several orders, and what is measured then.

    Attributes:
        chosen: the output that is measured.
        removal: of tokens.
        value: p(x) of the whole input.
        counts: how many tokens are removed, or kept.
        queue: the order of the relevance, the most relevant token first; then random ones.
        tokens: their number.
        written: ids that the decoder of an encoder–decoder is to write, `1 token`; they stay.
        tensor: pixels `1 channel row col`, or ids and segments `1 2 token`.
        behind: what takes the place of removed tokens, of the same shape.
        places: the token of each pixel, `row col`, or of each id.
    """

    def __init__(
        self,
        model: Model,
        input: Any,
        relevance: Float[Tensor, " token"],
        *,
        chosen: Target,
        removal: Removal | None = None,
        levels: Sequence[float] = LEVELS,
        orders: int = ORDERS,
        seed: int = 0,
        written: Any = None,
    ) -> None:
        """Arguments and errors as for `faithfulness`; `chosen` is what its target means."""
        with torch.no_grad():
            whole = trace(model, input, written)
        self.model, self.chosen, tokens = model, chosen, whole.tokens[chosen.item]
        if len(relevance) != len(tokens):
            count = len(relevance)
            raise ValueError(f"relevance: expected {len(tokens)} numbers, received {count}")
        movable = torch.tensor([not special for special in tokens.special])
        if chosen.position is not None and whole.target_tokens is None:
            movable[chosen.position] = False
        movable = movable.nonzero()[:, 0]
        if not len(movable):
            raise ValueError("expected tokens that can be removed: these are all special")
        dice = torch.Generator().manual_seed(seed)
        draws = [movable[torch.randperm(len(movable), generator=dice)] for _ in range(orders + 1)]
        order = draws[0][relevance.cpu()[draws[0]].argsort(descending=True, stable=True)]
        self.queue, self.tokens, self.written = (order, *draws[1:]), len(tokens), None
        self.counts = sorted({max(int(level > 0), round(level * len(movable))) for level in levels})
        self.value = float(chosen.probability(whole.output))
        if whole.target_tokens is not None:  # the decoder reads all of a target but its last token
            ids = whole.target_tokens[chosen.item].ids
            self.written = torch.tensor([[*ids[1:], ids[-1]]], device=model.device)
        how, self.tensor, self.behind, self.places = _removed(
            model, input, whole, removal, chosen.item
        )
        self.removal: Removal = how
        again = self.probabilities([order[:0]])[0]
        if abs(again - self.value) > SAME * max(1.0, abs(self.value)):
            raise ValueError(
                f"{model.name}: expected an input that its tokens or pixels alone describe:"
                f" they give {again:.4f} in place of {self.value:.4f}"
            )

    def curve(self, order: int) -> tuple[Float[Tensor, " level"], Float[Tensor, " level"]]:
        """Comprehensiveness and sufficiency of one order."""
        queue = self.queue[order]
        removed = [queue[:count] for count in self.counts] + [queue[n:] for n in self.counts]
        drops = self.value - torch.tensor(self.probabilities(removed))
        return drops[: len(self.counts)], drops[len(self.counts) :]

    def probabilities(self, removed: Sequence[Tensor]) -> list[float]:
        """The probability of the chosen output without some tokens, each time others.

        Inputs of one length are batches, of at most BATCH_TOKENS tokens.
        """
        inputs = [self._without(some) for some in removed]
        probabilities, step = [0.0] * len(removed), max(1, BATCH_TOKENS // self.tokens)
        for shape in {tensor.shape for tensor in inputs}:
            alike = [index for index, tensor in enumerate(inputs) if tensor.shape == shape]
            for first in range(0, len(alike), step):
                batch = alike[first : first + step]
                output = self._output(torch.cat([inputs[index] for index in batch]))
                for row, index in enumerate(batch):
                    alone = replace(self._chosen_without(removed[index]), item=row)
                    probabilities[index] = float(alone.probability(output))
        return probabilities

    def _without(self, removed: Int[Tensor, " token"]) -> Tensor:
        gone = torch.isin(self.places, removed.to(self.places.device))
        if self.removal == "drop":
            return self.tensor[..., ~gone]
        return torch.where(gone, self.behind, self.tensor)

    @torch.no_grad()
    def _output(self, batch: Tensor) -> Output:
        written = None if self.written is None else self.written.expand(len(batch), -1)
        if self.places.ndim == 2:
            return trace(self.model, batch, written).output
        ids, segments = batch.unbind(1)
        named = {"input_ids": ids, "token_type_ids": segments}
        return trace(self.model, named if segments.any() else ids, written).output

    def _chosen_without(self, removed: Int[Tensor, " token"]) -> Target:
        """What is read of the output where tokens before its position are gone."""
        moves = self.removal == "drop" and self.written is None
        if not moves or self.chosen.position is None:
            return self.chosen
        place = self.chosen.position % self.tokens
        return replace(self.chosen, position=place - int((removed < place).sum()))


def _removed(
    model: Model, input: Any, whole: Trace, removal: Removal | None, item: int
) -> tuple[Removal, Tensor, Tensor, Tensor]:
    """How tokens are removed; the input, what takes the place of tokens, and where these are."""
    pictured = removal in REMOVED.values()
    if whole.grid is not None:
        if removal is not None and not pictured:
            raise ValueError(f"removal: expected grey or blur for a picture, received {removal!r}")
        pixels = pixels_of(model, input)[item:][:1]
        pixels = pixels[(..., *whole.box.pixels(*pixels.shape[-2:]))]
        behind = blur(pixels) if removal == "blur" else grey_of(model, pixels).expand_as(pixels)
        places = whole.prefix + torch.arange(math.prod(whole.grid)).view(whole.grid)
        for axis, (size, count) in enumerate(zip(pixels.shape[2:], whole.grid, strict=True)):
            places = places.repeat_interleave(size // count, axis)
        return removal or "grey", pixels, behind, places.to(pixels.device)
    if getattr(model.network, "main_input_name", "input_ids") != "input_ids":
        raise ValueError(f"expected a model that reads text or pictures, received {model.name}")
    if pictured:
        raise ValueError(f"removal: expected mask or drop for a text, received {removal!r}")
    mask, tokens = mask_id(model), whole.tokens[item]
    if removal == "mask" and mask is None:
        raise ValueError(f"removal: {model.name} has no mask token, expected drop")
    ids = torch.tensor([[tokens.ids, tokens.segments]], device=model.device)
    masks = torch.tensor([[[mask or 0] * len(tokens), tokens.segments]], device=model.device)
    places = torch.arange(len(tokens), device=model.device)
    return removal or ("drop" if mask is None else "mask"), ids, masks, places


def faithfulness(
    model: Model | Any,
    input: Any,
    relevance: Float[Tensor, " token"],
    *,
    target: Any = None,
    removal: Removal | None = None,
    levels: Sequence[float] = LEVELS,
    orders: int = ORDERS,
    seed: int = 0,
    written: Any = None,
    progress: Progress | None = None,
) -> Faithfulness:
    """Comprehensiveness and sufficiency of a relevance, and of random orders.

    Special tokens (of a picture: class token, registers) are never removed, nor is the token at
    whose position the output is read. Of an encoder–decoder, the input's tokens are removed; what
    its decoder reads stays. Ties in the relevance are broken by the seed.

    Args:
        model: from `load`, or a network.
        input: a text, a pair of texts or ids; of a vision model a picture. Of a batch the first
            item, unless a `Target` names another.
        relevance: of each token or patch of the input (see `analysis.relevance`).
        target: the output, as for `relevance`; None is the likeliest one of the whole input.
        removal: "mask" puts the mask token in the place of each; "drop" leaves them out, and those
            behind move up; "grey", of a picture, paints patches in the mean colour of the images
            that the model was trained on, or in middle grey where the model does not state it;
            "blur" blurs them. None: "grey" for pictures, "mask" where there is a mask token.
        levels: shares of the tokens.
        orders: number of random orders.
        seed: of ties and random orders.
        written: what the decoder of an encoder–decoder reads, as `target` of `trace`.
        progress: called with the number of orders done and of all.

    Raises:
        ValueError: for inputs and removals that do not fit the model.
    """
    progress = progress or bar("faithfulness")
    model = as_model(model)
    chosen = choose(model, input, target, written=written)
    how: dict[str, Any] = {"removal": removal, "levels": levels, "orders": orders, "seed": seed}
    study = Study(model, input, relevance, chosen=chosen, written=written, **how)
    curves = [study.curve(order) for order in each(range(len(study.queue)), progress)]
    without, alone = (torch.stack(half) for half in zip(*curves, strict=True))
    of_orders = without[0], alone[0], without[1:], alone[1:]
    return Faithfulness(study.value, torch.tensor(study.counts), *of_orders, study.removal)


@dataclass(frozen=True, eq=False)
class Perturbation:
    """The probability of a class as patches of a picture are removed, or put back.

    Attributes:
        counts: how many patches have been removed or put back.
        value: of the whole picture.
        most: the most relevant patches first.
        least: the least relevant patches first.
        random: random orders.
        score: half the difference of the areas of the first two: −1 to 1. Larger is more faithful,
            0 is no better than the reverse order.
    """

    counts: Int[Tensor, " level"]
    value: float
    most: Float[Tensor, " level"]
    least: Float[Tensor, " level"]
    random: Float[Tensor, "order level"]
    score: float


def area(curve: Float[Tensor, "*order level"], counts: Int[Tensor, " level"]) -> Tensor:
    """The area under a curve by trapezoids, the axis from 0 to 1."""
    return torch.trapezoid(curve, counts / counts[-1], dim=-1)


def perturbation(
    model: Model | Any,
    image: Any,
    relevance: Float[Tensor, " token"],
    kind: Kind,
    *,
    target: Any = None,
    levels: Sequence[float] = TENTHS,
    orders: int = ORDERS,
) -> Perturbation:
    """The curve of the relevance of patches, of its reverse, and of random orders.

    Arguments and errors as for `faithfulness`; what is before the patches stays.
    """
    model = as_model(model)
    chosen = choose(model, image, target)
    how: dict[str, Any] = {"removal": REMOVED[kind], "levels": levels, "orders": orders}
    study = Study(model, image, relevance, chosen=chosen, **how)

    def curve(queue: Tensor) -> Tensor:
        gone = [queue[:count] if kind == "deletion" else queue[count:] for count in study.counts]
        return torch.tensor(study.probabilities(gone))

    order, *others = study.queue
    most, least, *random = map(curve, (order, order.flip(0), *others))
    counts = torch.tensor(study.counts)
    drawn = torch.stack(random) if random else torch.empty(0, len(counts))
    sign = 1 if kind == "insertion" else -1
    score = sign * float(area(most, counts) - area(least, counts)) / 2
    return Perturbation(counts, study.value, most, least, drawn, score)


def blur(pixels: Float[Tensor, "1 channel y x"]) -> Float[Tensor, "1 channel y x"]:
    """The picture under a Gaussian; its edges are mirrored."""
    at = torch.arange(BLUR, dtype=pixels.dtype, device=pixels.device) - BLUR // 2
    line = torch.exp(-0.5 * (at / SIGMA) ** 2)
    kernel = (line / line.sum()).expand(pixels.shape[1], 1, 1, -1)
    wide = F.pad(pixels, (BLUR // 2,) * 4, mode="reflect")
    across = F.conv2d(wide, kernel, groups=pixels.shape[1])
    return F.conv2d(across, kernel.mT, groups=pixels.shape[1])

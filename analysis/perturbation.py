"""Perturbation curves of a picture: the output as patches are removed or restored in an order.

    deletion     p as the most relevant patches are greyed out, one after another
    insertion    p as the most relevant patches are put into the blurred picture

A faithful relevance has a small area under deletion, a large one under insertion.

Source: Petsiuk et al. 2018, "RISE", section 4.2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor

from analysis.faithfulness import BATCH_TOKENS
from analysis.target import Target, target_in
from models.inputs.pictures import grey_of, pixels_of
from models.run import Model, as_model, trace
from models.trace import Output

Kind = Literal["deletion", "insertion"]
LEVELS = tuple(number / 10 for number in range(11))
ORDERS = 8  # random orders beside the relevance
BLUR, SIGMA = 11, 5.0  # side and standard deviation of the Gaussian, in pixels


@dataclass(frozen=True, eq=False)
class Perturbation:
    """Probabilities along one kind of perturbation.

    Attributes:
        kind: of perturbation.
        value: of the whole picture.
        counts: how many patches have been removed or restored.
        curve: the most relevant patches first.
        reverse: the least relevant patches first.
        random: random orders.
    """

    kind: Kind
    value: float
    counts: Int[Tensor, " level"]
    curve: Float[Tensor, " level"]
    reverse: Float[Tensor, " level"]
    random: Float[Tensor, "order level"]

    @property
    def score(self) -> float:
        """Larger is more faithful, 0 is no better than the reverse order: −1 to 1.

        Half the difference of the areas of both orders.
        """
        sign = 1 if self.kind == "insertion" else -1
        return sign * float(area(self.curve, self.counts) - area(self.reverse, self.counts)) / 2


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
    among: range | None = None,
    levels: Sequence[float] = LEVELS,
    orders: int = ORDERS,
    seed: int = 0,
) -> Perturbation:
    """The curve of a relevance, of its reverse, and of random orders.

    Args:
        model: from `load`, or a network.
        image: that it reads.
        relevance: of every token; those before the patches stay.
        kind: what happens to patches.
        target: the class, as for `relevance`; None is the likeliest one of the whole picture.
        among: the classes of the question that the target answers; None means all.
        levels: shares of the patches.
        orders: number of random orders.
        seed: of ties and random orders.

    Raises:
        ValueError: for inputs that are no picture, and relevances of other lengths.
    """
    model = as_model(model)
    with torch.no_grad():
        whole = trace(model, image)
    if whole.grid is None:
        raise ValueError("expected a picture: a text has no patches to grey or blur")
    chosen = target_in(model, whole, target, among=among)
    (rows, cols), prefix = whole.grid, whole.prefix
    count = rows * cols
    if len(relevance) != len(whole.labels):
        raise ValueError(
            f"relevance: expected {len(whole.labels)} numbers, received {len(relevance)}"
        )
    dice = torch.Generator().manual_seed(seed)
    queues = [torch.randperm(count, generator=dice) for _ in range(orders + 1)]
    order = queues[0][relevance.cpu()[prefix : prefix + count][queues[0]].argsort(stable=True)]
    counts = sorted({round(level * count) for level in levels})
    pixels = pixels_of(model, image)[chosen.item :][:1]
    pixels = pixels[(..., *whole.box.pixels(*pixels.shape[-2:]))]
    perturb = PERTURB[kind](pixels, grey_of(model, pixels))

    def curve(queue: Tensor) -> Tensor:
        taken = torch.zeros(len(counts), count, dtype=torch.bool)
        for level, many in enumerate(counts):
            taken[level, queue[:many]] = True
        inputs = [perturb(each.view(rows, cols)) for each in taken]
        parts = torch.cat(inputs).split(max(1, BATCH_TOKENS // len(whole.labels)))
        with torch.no_grad():
            return torch.cat([_probabilities(trace(model, part).output, chosen) for part in parts])

    most, least, *others = (curve(queue) for queue in (order.flip(0), order, *queues[1:]))
    value = float(chosen.probability(whole.output))
    random = torch.stack(others) if others else torch.empty(0, len(counts))
    return Perturbation(kind, value, torch.tensor(counts), most, least, random)


def _probabilities(output: Output, chosen: Target) -> Float[Tensor, " item"]:
    """The probability of the chosen class, item by item."""
    items = range(len(output.values))
    return torch.tensor([float(replace(chosen, item=item).probability(output)) for item in items])


Perturb = Callable[[Bool[Tensor, "row col"]], Float[Tensor, "1 channel y x"]]


def _deletion(pixels: Tensor, grey: Tensor) -> Perturb:
    return lambda taken: torch.where(_pixels(taken, pixels), grey, pixels)


def _insertion(pixels: Tensor, grey: Tensor) -> Perturb:
    blurred = blur(pixels)
    return lambda taken: torch.where(_pixels(taken, pixels), pixels, blurred)


PERTURB: dict[Kind, Callable[[Tensor, Tensor], Perturb]] = {
    "deletion": _deletion,
    "insertion": _insertion,
}


def blur(pixels: Float[Tensor, "1 channel y x"]) -> Float[Tensor, "1 channel y x"]:
    """The picture under a Gaussian; its edges are mirrored."""
    at = torch.arange(BLUR, dtype=pixels.dtype, device=pixels.device) - BLUR // 2
    line = torch.exp(-0.5 * (at / SIGMA) ** 2)
    line = line / line.sum()
    kernel = line.expand(pixels.shape[1], 1, 1, -1)
    wide = F.pad(pixels, (BLUR // 2,) * 4, mode="reflect")
    across = F.conv2d(wide, kernel, groups=pixels.shape[1])
    return F.conv2d(across, kernel.mT, groups=pixels.shape[1])


def _pixels(taken: Bool[Tensor, "row col"], pixels: Tensor) -> Bool[Tensor, "y x"]:
    """The pixels of some patches."""
    high, wide = (side // many for side, many in zip(pixels.shape[2:], taken.shape, strict=True))
    pixels_out = taken.repeat_interleave(high, 0).repeat_interleave(wide, 1)
    return pixels_out.to(pixels.device)

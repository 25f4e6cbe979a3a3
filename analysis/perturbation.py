"""Perturbation curves of a picture: the output as patches are removed or restored in an order.

    deletion     p as the most relevant patches are greyed out, one after another
    insertion    p as the most relevant patches are put into the blurred picture
    ROAD         p as patches are replaced by what their surroundings suggest, the most relevant
                 first (MoRF) or the least relevant first (LeRF)

A faithful relevance has a small area under deletion and MoRF, a large one under insertion and LeRF.
ROAD leaves no grey squares, whose shape alone can tell a network something.

Source: Petsiuk et al. 2018, "RISE", section 4.2 (deletion, insertion); Rong et al. 2022, "A
consistent and efficient evaluation strategy for attribution methods" (ROAD), section 4.
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

Kind = Literal["deletion", "insertion", "road"]
LEVELS = tuple(number / 10 for number in range(11))
ORDERS = 8  # random orders beside the relevance
BLUR, SIGMA = 11, 5.0  # side and standard deviation of the Gaussian, in pixels
NEIGHBOURS = {  # weights of the pixels around one, in ROAD
    **dict.fromkeys(((0, 1), (0, -1), (1, 0), (-1, 0)), 1 / 6),
    **dict.fromkeys(((1, 1), (1, -1), (-1, 1), (-1, -1)), 1 / 12),
}
NOISE = 0.01  # standard deviation of the noise on imputed pixels, in ROAD


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

        Half the difference of the areas of both orders; for ROAD (LeRF − MoRF) / 2.
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
        seed: of ties, random orders and noise.

    Raises:
        ValueError: for inputs that are no picture, and relevances of other lengths.
    """
    model = as_model(model)
    with torch.no_grad():
        whole = trace(model, image)
    if whole.grid is None:
        raise ValueError("expected a picture: a text has no patches to blur or impute")
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
    perturb = PERTURB[kind](pixels, grey_of(model, pixels), dice)

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


def _deletion(pixels: Tensor, grey: Tensor, dice: torch.Generator) -> Perturb:
    return lambda taken: torch.where(_pixels(taken, pixels), grey, pixels)


def _insertion(pixels: Tensor, grey: Tensor, dice: torch.Generator) -> Perturb:
    blurred = blur(pixels)
    return lambda taken: torch.where(_pixels(taken, pixels), pixels, blurred)


def _road(pixels: Tensor, grey: Tensor, dice: torch.Generator) -> Perturb:
    def perturb(taken: Bool[Tensor, "row col"]) -> Tensor:
        gone = _pixels(taken, pixels)
        noise = NOISE * torch.randn(pixels.shape, generator=dice).to(pixels.device)
        return torch.where(gone, impute(pixels, gone, grey) + noise, pixels)

    return perturb


PERTURB: dict[Kind, Callable[[Tensor, Tensor, torch.Generator], Perturb]] = {
    "deletion": _deletion,
    "insertion": _insertion,
    "road": _road,
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


def impute(
    pixels: Float[Tensor, "1 channel y x"], gone: Bool[Tensor, "y x"], grey: Tensor | float = 0.0
) -> Float[Tensor, "1 channel y x"]:
    """Each removed pixel as the weighted mean of its neighbours, all at once (ROAD).

    A sparse system of linear equations; at the edges the weights of the neighbours there are grow
    in proportion. A picture of which nothing is left becomes grey.
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import splu

    if not gone.any():
        return pixels
    if gone.all():
        return torch.zeros_like(pixels) + grey
    hidden = gone.cpu().numpy()
    values = pixels[0].double().cpu().numpy()
    number = np.cumsum(hidden).reshape(hidden.shape) - 1
    y, x = hidden.nonzero()
    pixel = number[y, x]
    total, known = np.zeros(len(y)), np.zeros((len(y), len(values)))
    entries: list[tuple[Any, Any, Any]] = []
    for (down, across), weight in NEIGHBOURS.items():
        ny, nx = y + down, x + across
        there = (ny >= 0) & (nx >= 0) & (ny < hidden.shape[0]) & (nx < hidden.shape[1])
        ny, nx, at = ny[there], nx[there], pixel[there]
        total[at] += weight
        also = hidden[ny, nx]
        entries.append((np.full(also.sum(), -weight), at[also], number[ny[also], nx[also]]))
        known[at[~also]] += weight * values[:, ny[~also], nx[~also]].T
    weights, rows, cols = (np.concatenate(each) for each in zip(*entries, strict=True))
    weights = np.concatenate([weights, total])
    rows, cols = np.concatenate([rows, pixel]), np.concatenate([cols, pixel])
    system = coo_array((weights, (rows, cols)), shape=(len(y), len(y))).tocsc()
    filled = values.copy()
    filled[:, y, x] = splu(system).solve(known).T
    return torch.from_numpy(filled)[None].to(pixels)


def _pixels(taken: Bool[Tensor, "row col"], pixels: Tensor) -> Bool[Tensor, "y x"]:
    """The pixels of some patches."""
    high, wide = (side // many for side, many in zip(pixels.shape[2:], taken.shape, strict=True))
    pixels_out = taken.repeat_interleave(high, 0).repeat_interleave(wide, 1)
    return pixels_out.to(pixels.device)

"""The same number of several inputs: its mean, and how sure that is."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from scipy.stats import t as student
from torch import Tensor

CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Mean:
    """The mean over inputs, and the interval that holds the true one in 95 % of samples.

    Inputs count as drawn independently. The interval is mean ± t · s / √n, t of Student's
    distribution with n − 1 degrees of freedom; NaN for a single input.

    Attributes:
        each: the numbers, an input a row.
    """

    each: Float[Tensor, "input *place"]

    @property
    def mean(self) -> Float[Tensor, "*place"]:
        """The mean over inputs."""
        return self.each.mean(0)

    @property
    def margin(self) -> Float[Tensor, "*place"]:
        """Half the width of the interval."""
        count = len(self.each)
        if count < 2:
            return torch.full_like(self.mean, torch.nan)
        quantile = float(student.ppf((1 + CONFIDENCE) / 2, count - 1))
        return self.each.std(0) * (quantile / count**0.5)

    @property
    def low(self) -> Float[Tensor, "*place"]:
        """The lower end of the interval."""
        return self.mean - self.margin

    @property
    def high(self) -> Float[Tensor, "*place"]:
        """The upper end of the interval."""
        return self.mean + self.margin

    def __repr__(self) -> str:
        count, *shape = self.each.shape
        if not shape:
            return f"{float(self.mean):.4g} ± {float(self.margin):.2g} (95 %, {count} inputs)"
        return f"Mean({' × '.join(map(str, shape))}, {count} inputs)"

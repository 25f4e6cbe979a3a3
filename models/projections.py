"""The linear maps of one attention layer, the norm it reads its input through, and the read-out.

    q = x W_Q + b_Q      k = x W_K + b_K      v = x W_V + b_V      out = Σ_head values W_O + b_O

Source: Vaswani et al. 2017, section 3.2.2; the split of W_O over heads is Elhage et al. 2021, "A
Mathematical Framework for Transformer Circuits". The read-out: nostalgebraist 2020, "interpreting
GPT: the logit lens".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from models.shown import one_line

BIASES = "biases"  # of the parts of a sum, all biases together


@dataclass(frozen=True, eq=False)
class Norm:
    """A norm over the last axis.

        layer: (x − mean) / √(variance + eps) · weight + bias
        rms:   x / √(mean of squares + eps) · weight

    Attributes:
        kind: "layer" (Ba et al. 2016) or "rms" (Zhang and Sennrich 2019).
        weight: the factor of each feature; None means 1.
        bias: None means 0.
        eps: added under the root.
    """

    kind: Literal["layer", "rms"]
    weight: Float[Tensor, " dim"] | None
    bias: Float[Tensor, " dim"] | None
    eps: float

    @staticmethod
    def of(module: nn.LayerNorm | nn.RMSNorm) -> "Norm":
        """That of a layer of PyTorch."""
        if isinstance(module, nn.LayerNorm):
            return Norm("layer", module.weight, module.bias, module.eps)
        eps = torch.finfo(module.weight.dtype).eps if module.eps is None else module.eps
        return Norm("rms", module.weight, None, eps)

    def __call__(self, x: Float[Tensor, "*token dim"]) -> Float[Tensor, "*token dim"]:
        normed = self.linear(x, x)
        return normed if self.bias is None else normed + self.bias

    def linear(
        self, part: Float[Tensor, "*token dim"], whole: Float[Tensor, "*token dim"]
    ) -> Float[Tensor, "*token dim"]:
        """The share of a part of the input, without the bias: its deviation is that of the whole.

        The shares of parts that sum to the whole sum to the norm of the whole, less the bias.
        """
        if self.kind == "layer":
            part = part - part.mean(-1, keepdim=True)
            whole = whole - whole.mean(-1, keepdim=True)
        share = part / (whole.square().mean(-1, keepdim=True) + self.eps).sqrt()
        return share if self.weight is None else share * self.weight

    def shares(self, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The share of each part of a sum in the norm of that sum; its bias is one of `BIASES`."""
        whole = torch.stack([*parts.values()]).sum(0)
        shares = {name: self.linear(part, whole) for name, part in parts.items()}
        return shares if self.bias is None else plus_bias(shares, self.bias.to(whole))


def plus_bias(parts: dict[str, Tensor], bias: Tensor) -> dict[str, Tensor]:
    """The parts of a sum, to which a bias is added."""
    like = next(iter(parts.values()))
    return parts | {BIASES: parts[BIASES] + bias if BIASES in parts else bias.expand_as(like)}


class Residual(NamedTuple):
    """How the output of an attention layer joins its input: norm(input + output).

    The input is what comes before `Projections.norm`, where there is one.

    Attributes:
        norm: of the sum (post-norm); None if the sum goes on as it is (pre-norm).
    """

    norm: Norm | None


class HeadProjections(NamedTuple):
    """The matrices of one head: x @ query + query_bias; biases that are not there are None."""

    query: Float[Tensor, "input dim"]
    key: Float[Tensor, "key_input key_dim"]
    value: Float[Tensor, "key_input value_dim"]
    output: Float[Tensor, "value_dim out"]
    query_bias: Float[Tensor, " dim"] | None
    key_bias: Float[Tensor, " key_dim"] | None
    value_bias: Float[Tensor, " value_dim"] | None


@dataclass(frozen=True, eq=False)
class Projections:
    """What one attention layer multiplies with, head by head.

    They are the network's own weights, as views of them where their layout allows: read only.

    Attributes:
        query: the matrices that make queries; a constant factor on queries is included.
        key: the same for keys: one matrix per key head, which several heads share where queries
            are grouped.
        value: the same for values.
        output: what each head's values are multiplied with before they are summed.
        query_bias: None means there is none; so for the others.
        key_bias: of each key head.
        value_bias: of each key head.
        output_bias: added to the sum over heads.
        norm: between the residual stream and the queries; None if they read the stream itself.
        residual: how the output joins the input; None if it is not just added to it (parallel
            branches, a norm or a factor before the sum).
        query_norm: of queries after their projection; None if there is none.
        key_norm: of keys.
        dot: whether scores are dot products of queries and keys; else learned weights take part.
        rotated: whether queries and keys are rotated by their position after all of this.
        embedding: vectors of the tokens that this tower reads; None if it reads none.
        unembedding: vectors that the tower's output is multiplied with for its logits.
        final_norm: between the residual stream and the unembedding.
    """

    query: Float[Tensor, "head input dim"]
    key: Float[Tensor, "kv_head key_input key_dim"]
    value: Float[Tensor, "kv_head key_input value_dim"]
    output: Float[Tensor, "head value_dim out"]
    query_bias: Float[Tensor, "head dim"] | None = None
    key_bias: Float[Tensor, "kv_head key_dim"] | None = None
    value_bias: Float[Tensor, "kv_head value_dim"] | None = None
    output_bias: Float[Tensor, " out"] | None = None
    norm: Norm | None = None
    residual: Residual | None = None
    query_norm: Norm | None = None
    key_norm: Norm | None = None
    dot: bool = True
    rotated: bool = False
    embedding: Float[Tensor, "vocab input"] | None = None
    unembedding: Float[Tensor, "target_vocab input"] | None = None
    final_norm: Norm | None = None

    def __repr__(self) -> str:
        return one_line(self)

    @property
    def heads(self) -> int:
        """Number of heads."""
        return len(self.query)

    def kv_head(self, head: int) -> int:
        """The key head that a head reads."""
        return head // (self.heads // len(self.key))

    def head(self, head: int) -> HeadProjections:
        """The matrices of one head, those of its key head included.

        Raises:
            ValueError: for a head that is not there.
        """
        if not 0 <= head < self.heads:
            raise ValueError(f"head: expected 0 to {self.heads - 1}, received {head}")
        kv = self.kv_head(head)
        return HeadProjections(
            self.query[head],
            self.key[kv],
            self.value[kv],
            self.output[head],
            None if self.query_bias is None else self.query_bias[head],
            None if self.key_bias is None else self.key_bias[kv],
            None if self.value_bias is None else self.value_bias[kv],
        )


def split_rows(matrix: Float[Tensor, "out input"], heads: int) -> Float[Tensor, "head input dim"]:
    """A projection's weight (as in `nn.Linear`) by the heads that its rows belong to; a view."""
    return matrix.unflatten(0, (heads, -1)).transpose(1, 2)


def split_columns(matrix: Float[Tensor, "out values"], heads: int) -> Float[Tensor, "head dim out"]:
    """An output projection's weight by the heads that its columns belong to; a view."""
    return matrix.unflatten(1, (heads, -1)).permute(1, 2, 0)


def identity(heads: int, dim: int, like: Tensor) -> Float[Tensor, "head dim out"]:
    """The output matrices of heads whose values are put side by side, without a projection."""
    return torch.eye(heads * dim, dtype=like.dtype, device=like.device).unflatten(0, (heads, dim))


@dataclass(frozen=True, eq=False)
class Readout:
    """The norm and the linear map between what leaves the last block and the logits.

        logits = cap(scale · W norm(x) + bias),   cap(z) = c · tanh(z / c)

    Attributes:
        unembedding: W, one vector for each token.
        norm: between the residual stream and W; None if there is none.
        bias: of each token; None means 0.
        scale: factor of W norm(x).
        softcap: c; None if logits are not capped.
    """

    unembedding: Float[Tensor, "vocab dim"]
    norm: Norm | None = None
    bias: Float[Tensor, " vocab"] | None = None
    scale: float = 1.0
    softcap: float | None = None

    def __call__(self, states: Float[Tensor, "*token dim"]) -> Float[Tensor, "*token vocab"]:
        """The logits of hidden states as they leave a block."""
        states = states if self.norm is None else self.norm(states)
        logits = F.linear(states.to(self.unembedding.dtype), self.unembedding)
        logits = logits if self.scale == 1 else logits * self.scale
        return self.capped(logits if self.bias is None else logits + self.bias)

    def capped(self, logits: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
        """Logits with the cap."""
        return logits if self.softcap is None else self.softcap * torch.tanh(logits / self.softcap)

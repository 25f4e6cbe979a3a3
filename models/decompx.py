"""DecompX: a forward pass that carries the part of each activation that one token makes of it.

Parts begin at the embeddings, where each token's part is its own vector, and follow these rules:

    linear layers        the same map, without the bias
    norms                divided by the deviation of the whole
    activations f        part · f(x) / x
    attention            the weights of the whole: queries and keys carry no part
    products of two      half of the part of each factor, times the other

Each rule is linear in the part, and the parts of all tokens and what biases add sum to the
activation. Biases are not divided among the tokens.
A part is the tangent of forward differentiation: one pass needs the memory of two, at any depth,
and nothing in the network is replaced.

Source: Modarressi et al. 2023, "DecompX: Explaining Transformers Decisions by Propagating Token
Decomposition", section 3. Products of two activations (gated feed-forward networks) are not in the
paper; the rule is that of AttnLRP.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor
from torch.autograd.forward_ad import dual_level, make_dual, unpack_dual
from torch.overrides import TorchFunctionMode

from models.attnlrp import ACTIVATIONS, PRODUCTS, linearised, secant, tangent_of

SOFTMAX = frozenset({torch.softmax, F.softmax, Tensor.softmax})
INPLACE = frozenset({Tensor.mul_, Tensor.__imul__})
SUMS = frozenset({torch.add, Tensor.add, Tensor.__add__, Tensor.__radd__})


def carried(
    run: Callable[[], object],
    first: Float[Tensor, "batch token dim"],
    part: Float[Tensor, "batch token dim"],
    last: Float[Tensor, "batch token dim"],
) -> Float[Tensor, "batch token dim"] | None:
    """What becomes of a part on its way from one tensor of a pass to another.

    Args:
        run: makes the pass.
        first: the tensor at which the part begins.
        part: of that tensor.
        last: the tensor at which the part is read.

    Returns:
        The part of `last`; None where the pass has no tensors of these values.
    """
    with torch.no_grad(), dual_level(), DecompX(first, part, last) as mode:
        try:
            run()
        except (NotImplementedError, RuntimeError) as error:
            named = re.search(r"forward AD with (\S+)", str(error))
            if named is None:
                raise
            raise ValueError(
                "DecompX follows parts by forward differentiation, which PyTorch does not have for"
                f" {named[1]}"
            ) from error
    return mode.result


class DecompX(TorchFunctionMode):
    """Inside, and inside `torch.autograd.forward_ad.dual_level()`, parts follow the rules.

    Where parts begin and end is known by the values that an equal pass had there.

    Args:
        first: the tensor at which parts begin.
        part: of that tensor.
        last: the tensor at which the part is read.
    """

    def __init__(
        self,
        first: Float[Tensor, "batch token dim"],
        part: Float[Tensor, "batch token dim"],
        last: Float[Tensor, "batch token dim"],
    ) -> None:
        super().__init__()
        self.first, self.part, self.last = first, part, last
        self.begun = False
        self.result: Tensor | None = None

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = kwargs or {}
        if not self.begun:
            out = func(*args, **given)
            if not _is_same(out, self.first):
                return out
            self.begun = True
            return make_dual(out.detach(), self.part)
        out = _carried(func, args, given)
        if self.result is None and _is_same(out, self.last):
            self.result = tangent_of(out)
        return out


def _is_same(out: Any, value: Tensor) -> bool:
    return (
        isinstance(out, Tensor)
        and out.shape == value.shape
        and out.dtype == value.dtype
        and torch.equal(unpack_dual(out).primal, value)
    )


def _carried(func: Callable[..., Any], args: tuple[Any, ...], given: Mapping[str, Any]) -> Any:
    """The value of a function, with its part.

    Sums, products with a constant, linear layers and norms are written out: forward
    differentiation takes milliseconds for each where only one side has a tangent.
    """
    if func is F.scaled_dot_product_attention:
        return _attention(*args, **given)
    if func in SOFTMAX:
        return func(*args, **given).detach()
    if func in ACTIVATIONS:
        return secant(args[0], func(unpack_dual(args[0]).primal, *args[1:], **given))
    if func is F.linear:
        return _linear(*args, **given)
    if func is F.layer_norm:
        return _layer_norm(*args, **given)
    if len(args) == 2 and not given and func in (SUMS | PRODUCTS) - INPLACE:
        parts = [tangent_of(each) for each in args]
        if (parts[0] is None) != (parts[1] is None):
            return _with_constant(func, args, parts)
    return linearised(func, args, given)


def _with_constant(
    func: Callable[..., Any], args: tuple[Any, ...], parts: Sequence[Tensor | None]
) -> Tensor:
    """A sum or product of two, of which one has no part."""
    values = [unpack_dual(x).primal if isinstance(x, Tensor) else x for x in args]
    out = func(*values)
    if func in PRODUCTS:
        return make_dual(
            out, func(*(v if p is None else p for v, p in zip(values, parts, strict=True)))
        )
    return make_dual(out, next(p for p in parts if p is not None).expand_as(out))


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    whole, part = unpack_dual(x)
    out = F.linear(whole, weight, bias)
    return out if part is None else make_dual(out, F.linear(part, weight))


def _layer_norm(
    x: Tensor,
    shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    whole, part = unpack_dual(x)
    out = F.layer_norm(whole, shape, weight, bias, eps)
    if part is None:
        return out
    axes = tuple(range(-len(shape), 0))
    deviation = (whole.var(axes, correction=0, keepdim=True) + eps).sqrt()
    part = (part - part.mean(axes, keepdim=True)) / deviation
    return make_dual(out, part if weight is None else part * weight)


def _attention(q: Tensor, k: Tensor, v: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    whole, part = unpack_dual(v)
    q, k = q.detach(), k.detach()
    out = F.scaled_dot_product_attention(q, k, whole, *args, **kwargs)
    if part is None:
        return out
    return make_dual(out, F.scaled_dot_product_attention(q, k, part, *args, **kwargs))

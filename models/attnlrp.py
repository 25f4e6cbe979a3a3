"""AttnLRP: a forward pass whose gradients are relevances divided by activations.

Inside `AttnLRP()`, every output is as it is without, and the gradient of a number with respect to
an activation x is R(x) / x, where R is the relevance that the rules of AttnLRP assign to x:

    linear layers        the gradient itself (ε rule with ε = 0; biases keep their share)
    norms                the gradient with the standard deviation held constant
    activations f        f(x) / x in place of f′(x)
    products of two      half of the gradient to each factor
    attention            a quarter of the gradient to q and to k, half of it to v
    softmax              the gradient itself

It is a mode of PyTorch's functions, for one thread and one `with`, so it holds for any network:
nothing in the network is replaced. Parameters are constants inside; gradients begin at the first
layer that reads the input.

Source: Achtibat et al. 2024, "AttnLRP: Attention-Aware Layer-Wise Relevance Propagation for
Transformers", section 3; as modified gradients in its code, LXT. The authors of LXT call layer-wise
relevance propagation a patented technology, free for personal and scientific use only.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

ACTIVATIONS = frozenset(
    {F.relu, F.gelu, F.silu, F.softplus, F.leaky_relu, F.elu, F.mish, F.relu6, F.hardswish}
    | {F.sigmoid, F.tanh, F.hardtanh, F.hardsigmoid, F.celu, F.selu, F.logsigmoid, F.softsign}
    | {torch.relu, torch.tanh, torch.sigmoid, torch.square, torch.erf, torch.special.expit}
    | {Tensor.relu, Tensor.tanh, Tensor.sigmoid, Tensor.square, Tensor.erf}
)
PRODUCTS = frozenset(
    {torch.mul, torch.multiply, Tensor.mul, Tensor.multiply, Tensor.__mul__, Tensor.__rmul__}
    | {torch.matmul, torch.bmm, Tensor.matmul, Tensor.bmm, Tensor.__matmul__}
    | {Tensor.__rmatmul__, Tensor.mul_, Tensor.__imul__}
)
QUOTIENTS = frozenset(
    {torch.div, torch.true_divide, Tensor.div, Tensor.__truediv__, Tensor.true_divide}
    | {Tensor.div_, Tensor.__itruediv__}
)
ROOTS = frozenset({torch.sqrt, torch.rsqrt, Tensor.sqrt, Tensor.rsqrt, torch.std, Tensor.std})
POWERS = frozenset({torch.pow, Tensor.pow, Tensor.__pow__})
FIRST_LAYERS = frozenset({F.embedding, F.linear, F.conv1d, F.conv2d, F.conv3d})


Rules = Literal["exact", "attnlrp"]


def gradient_rules(rules: Rules) -> AbstractContextManager[object]:
    """The context of a forward pass whose gradients follow these rules.

    Raises:
        ValueError: for unknown rules.
    """
    if rules not in ("exact", "attnlrp"):
        raise ValueError(f"rules: expected exact or attnlrp, received {rules!r}")
    return AttnLRP() if rules == "attnlrp" else nullcontext()


class AttnLRP(TorchFunctionMode):
    """Inside, gradients follow the rules of AttnLRP (see the module)."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = {name: _constant(value) for name, value in (kwargs or {}).items()}
        args = tuple(_constant(value) for value in args)
        if not torch.is_grad_enabled():
            return func(*args, **given)
        if func is F.scaled_dot_product_attention:
            return _attention(*args, **given)
        out = _linearised(func, args, given)
        if func in FIRST_LAYERS and not out.requires_grad and out.is_floating_point():
            return out.requires_grad_()
        return out


def _linearised(func: Callable[..., Any], args: tuple[Any, ...], given: Mapping[str, Any]) -> Any:
    """The value of a function, with the derivatives of these rules; attention apart."""
    if func is F.layer_norm:
        return _layer_norm(*args, **given)
    if func is F.rms_norm:
        return _rms_norm(*args, **given)
    if func in PRODUCTS:
        args = _product(args)
    elif func is torch.einsum and len(args) == 3:
        args = (args[0], *_product(args[1:]))
    elif func in QUOTIENTS and len(args) > 1 and isinstance(args[1], Tensor):
        args = (args[0], args[1].detach(), *args[2:])
    out = func(*args, **given)
    if func in ACTIVATIONS or (func in POWERS and _is_activation(args)):
        return secant(next(iter(args)), out)
    if func in ROOTS or func in POWERS:
        return out.detach() if isinstance(out, Tensor) else out
    return out


def secant(x: Tensor, y: Tensor) -> Tensor:
    """y = f(x), with the gradient y / x; 0 where x is 0."""
    slope = torch.where(x == 0, 0.0, y.detach() / torch.where(x == 0, 1.0, x.detach()))
    return _with_value(x * slope.detach(), y)


def _with_value(x: Tensor, value: Tensor) -> Tensor:
    """The value of one tensor with the gradient of another."""
    return x + (value - x).detach()


def _is_constant(x: Any) -> bool:
    return not isinstance(x, Tensor) or not x.requires_grad


def _constant(value: Any) -> Any:
    """Parameters detached, also in lists."""
    if isinstance(value, nn.Parameter):
        return value.detach()
    if isinstance(value, list | tuple) and any(isinstance(each, nn.Parameter) for each in value):
        return type(value)(map(_constant, value))
    return value


def _scaled_gradient(x: Tensor, share: float) -> Tensor:
    """x, with a share of its gradient."""
    return x if _is_constant(x) else _with_value(share * x, x)


def _product(args: Sequence[Any]) -> tuple[Any, ...]:
    if len(args) < 2 or any(map(_is_constant, args[:2])):
        return tuple(args)
    return (_scaled_gradient(args[0], 0.5), _scaled_gradient(args[1], 0.5), *args[2:])


def _attention(q: Tensor, k: Tensor, v: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    if q.requires_grad or k.requires_grad:
        q, k, v = _scaled_gradient(q, 0.25), _scaled_gradient(k, 0.25), _scaled_gradient(v, 0.5)
    return F.scaled_dot_product_attention(q, k, v, *args, **kwargs)


def _layer_norm(
    x: Tensor,
    shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    axes = tuple(range(-len(shape), 0))
    centred = x - x.mean(axes, keepdim=True)
    deviation = (centred.square().mean(axes, keepdim=True) + eps).sqrt()
    y = centred / deviation.detach()
    y = y if weight is None else y * weight
    y = y if bias is None else y + bias
    return _with_value(y, F.layer_norm(x.detach(), shape, weight, bias, eps))


def _rms_norm(
    x: Tensor, shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    axes = tuple(range(-len(shape), 0))
    eps = torch.finfo(x.dtype).eps if eps is None else eps
    y = x * (x.square().mean(axes, keepdim=True) + eps).rsqrt().detach()
    y = y if weight is None else y * weight
    return _with_value(y, F.rms_norm(x.detach(), shape, weight, eps))


def _is_activation(args: Sequence[Any]) -> bool:
    """Whether a power is an activation such as relu², not a root in a norm."""
    exponent = args[1] if len(args) > 1 else None
    return isinstance(exponent, int | float) and exponent >= 1

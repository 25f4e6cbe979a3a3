"""AttnLRP's rule for the activations of transformers models that are made of several functions.

The mode of `models.attnlrp` sees functions: GELU's approximation by tanh, written out, is to it a
product with a constant in it. While a trace runs, hooks on the library's activation modules give
them the gradient of one elementwise function.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from torch import Tensor, nn

from models.attnlrp import Rules, secant
from models.hooks import hooked

FILES = ("transformers.activations", "torch.nn.modules.activation")
NOT_ELEMENTWISE = (nn.MultiheadAttention, nn.Softmax, nn.LogSoftmax, nn.GLU)


def activation_rules(network: nn.Module, rules: Rules) -> AbstractContextManager[None]:
    """Inside, activations follow the rules, in passes of this thread."""
    if rules != "attnlrp":
        return nullcontext()
    return hooked(
        after=[
            (module, _elementwise)
            for module in network.modules()
            if type(module).__module__ in FILES and not isinstance(module, NOT_ELEMENTWISE)
        ]
    )


def _elementwise(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    known = args and isinstance(args[0], Tensor) and args[0].shape == out.shape
    return secant(args[0], out) if known else None

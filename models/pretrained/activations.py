"""AttnLRP's rule for the activations of transformers models that are made of several functions.

The mode of `models.attnlrp` sees functions: GELU's approximation by tanh, written out, is to it a
product with a constant in it. While a trace runs, hooks on the library's activation modules give
them the gradient of one elementwise function.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any

from torch import Tensor, nn

from models.attnlrp import Rules, secant

FILES = ("transformers.activations", "torch.nn.modules.activation")
NOT_ELEMENTWISE = (nn.MultiheadAttention, nn.Softmax, nn.LogSoftmax, nn.GLU)


@contextmanager
def activation_rules(network: nn.Module, rules: Rules) -> Iterator[None]:
    """Inside, activations follow the rules, in passes of this thread."""
    thread = get_ident()

    def elementwise(_: nn.Module, args: tuple[Any, ...], out: Any) -> Any:
        known = get_ident() == thread and args and isinstance(args[0], Tensor)
        return secant(args[0], out) if known and args[0].shape == out.shape else None

    hooks = [
        module.register_forward_hook(elementwise)
        for module in (network.modules() if rules == "attnlrp" else ())
        if type(module).__module__ in FILES and not isinstance(module, NOT_ELEMENTWISE)
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()

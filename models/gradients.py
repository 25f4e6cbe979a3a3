"""Which linear maps of a network pass a gradient on: those of quantised weights do not."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from threading import get_ident
from typing import Any

from torch import Tensor, nn

DEPTH = 3  # nodes of the graph in which a map ends: its product, bias and change of type


@contextmanager
def refusing_lost_gradients(network: nn.Module) -> Iterator[None]:
    """Inside, a forward pass of this thread fails at a linear map that passes no gradient on.

    Raises:
        ValueError: with the name of the map.
    """
    thread = get_ident()

    def check(path: str, module: nn.Module, given: tuple[Any, ...], output: Any) -> None:
        read = next((x for x in given if isinstance(x, Tensor)), None)
        if read is None or not read.requires_grad or get_ident() != thread:
            return
        if isinstance(output, Tensor) and not _has_gradient(output):
            raise ValueError(
                f"{path} ({type(module).__module__}.{type(module).__name__}) passes no gradient, as"
                " quantised weights do not: load the model's unquantised weights"
            )

    maps = [
        (path, module)
        for path, module in network.named_modules()
        if hasattr(module, "in_features") or hasattr(module, "in_channels")
    ]
    hooks = [
        module.register_forward_hook(partial(check, path), prepend=True)  # before edits change it
        for path, module in maps
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _has_gradient(output: Tensor) -> bool:
    """Whether PyTorch can backpropagate from a tensor."""
    node = output.grad_fn
    for _ in range(DEPTH):
        if node is None:
            break
        if "NotImplemented" in node.name():  # of an operation without a derivative
            return False
        node = node.next_functions[0][0] if node.next_functions else None
    return output.requires_grad

"""Which linear maps of a network pass a gradient on: those of quantised weights do not."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import Tensor, nn

from models.hooks import hooked

DEPTH = 3  # nodes of the graph in which a map ends: its product, bias and change of type


@contextmanager
def refusing_lost_gradients(network: nn.Module) -> Iterator[None]:
    """Inside, a forward pass of this thread fails at a linear map that passes no gradient on.

    Raises:
        ValueError: with the name of the map.
    """

    def check(path: str, module: nn.Module, args: tuple, kwargs: dict, output: Any) -> None:
        read = next((x for x in args if isinstance(x, Tensor)), None)
        if read is None or not read.requires_grad:
            return
        if isinstance(output, Tensor) and not _has_gradient(output):
            raise ValueError(
                f"{path} ({type(module).__module__}.{type(module).__name__}) passes no gradient, as"
                " quantised weights do not: load the model's unquantised weights"
            )

    maps = [
        (module, partial(check, path))
        for path, module in network.named_modules()
        if hasattr(module, "in_features") or hasattr(module, "in_channels")
    ]
    with hooked(after=maps, first=True):  # before edits change it
        yield


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

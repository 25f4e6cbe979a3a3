"""Eval mode for a pass, without touching the mode of a network that somebody trains."""

import copy
from itertools import chain
from typing import Any, TypeVar

from torch import nn

from models.structure import modules_of

HOOKS = (  # where a module keeps what is called before and after it
    *("_forward_hooks", "_forward_hooks_with_kwargs", "_forward_hooks_always_called"),
    *("_forward_pre_hooks", "_forward_pre_hooks_with_kwargs"),
)
Network = TypeVar("Network", bound=nn.Module)


def evaluating(network: Network) -> Network:
    """The network if all of it is in eval mode, else a copy in eval mode that shares its weights.

    A loop in another thread may be training it: with its mode changed, even for a moment, that loop
    would go on without dropout.

    Raises:
        ValueError: for a network in training mode that cannot be copied.
    """
    if not _trains(network):
        return network
    try:
        return twin_of(network).eval()
    except Exception as error:  # what a module holds can refuse a copy in any way
        raise ValueError(
            f"{type(network).__name__} is in training mode and cannot be copied: call its eval()"
            f" before it is traced ({error})"
        ) from error


def twin_of(network: Network) -> Network:
    """A copy whose modules are its own, and whose weights and hooks are those of the network."""
    shared: dict[int, Any] = {id(x): x for x in chain(network.parameters(), network.buffers())}
    for module in network.modules():
        hooks = (each for name, each in vars(module).items() if name in HOOKS)
        shared |= {id(each): each.copy() for each in hooks}
    return copy.deepcopy(network, shared)


def check_eval(network: nn.Module) -> None:
    """Raises ValueError for a network that was set to training mode during or after its trace."""
    if _trains(network, check=False):
        raise ValueError(
            f"{type(network).__name__} was set to training mode while it was read: trace it again"
        )


def _trains(network: nn.Module, *, check: bool = True) -> bool:
    return True in [part.training for part in modules_of(network, check=check)]

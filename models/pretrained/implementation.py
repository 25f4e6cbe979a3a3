"""Lending a library's model our attention for the time of a trace, and no longer.

The name under which its layers look attention up is in its configs. What was there before, and how
many traces use the config at this moment, are kept in the lent name itself.
"""

from collections.abc import Sequence
from threading import Lock

from torch import nn
from transformers import PretrainedConfig

NAME = "headscope"


class Lent(str):
    """The name of our attention in a config, which remembers the name that was there."""

    __slots__ = ("before", "traces")
    before: str | None
    traces: int

    @staticmethod
    def instead_of(name: str | None) -> "Lent":
        lent = Lent(NAME)
        lent.before, lent.traces = name, 0
        return lent


_lending = Lock()


def lend(configs: Sequence[PretrainedConfig], more: int) -> None:
    """Counts the traces that use each config; the last one to leave puts the old name back."""
    with _lending:
        for config in configs:
            name = config._attn_implementation_internal
            if not isinstance(name, Lent):
                name = config._attn_implementation_internal = Lent.instead_of(name)
            name.traces += more
            if not name.traces:
                config._attn_implementation_internal = name.before


def configs_of(network: nn.Module) -> list[PretrainedConfig]:
    """Every config that a part of the network looks its attention up in, once."""
    found: dict[int, PretrainedConfig] = {}
    waiting = [getattr(module, "config", None) for module in network.modules()]
    while waiting:
        config = waiting.pop()
        if isinstance(config, PretrainedConfig) and id(config) not in found:
            found[id(config)] = config
            waiting += [getattr(config, name, None) for name in config.sub_configs]
    return list(found.values())

"""Switches the attention implementation of transformers configs for the duration of a trace.

Attention layers look their function up by a name in their config. The public
`PreTrainedModel.set_attn_implementation` writes one name to a whole model and cannot restore
different ones per sub-config, nor count overlapping traces, so this file, and no other, writes the
private field behind it. It therefore refuses any version of transformers it was not tested with.
"""

from collections.abc import Sequence
from threading import Lock

import transformers
from torch import nn
from transformers import PretrainedConfig

NAME = "headscope"
TESTED = "5.23."  # versions of transformers whose configs are known to work this way


class TracedName(str):
    """The name of our attention in a config; remembers the name it replaced.

    Attributes:
        previous: the name before the first of the running traces.
        traces: how many traces use the config now.
    """

    __slots__ = ("previous", "traces")
    previous: str | None
    traces: int

    @staticmethod
    def replacing(previous: str | None) -> "TracedName":
        name = TracedName(NAME)
        name.previous, name.traces = previous, 0
        return name


_lock = Lock()


def count_traces(configs: Sequence[PretrainedConfig], change: int) -> None:
    """Adds to the running traces of each config; at zero its previous name is restored.

    Raises:
        RuntimeError: for a version of transformers that was not tested.
    """
    if not transformers.__version__.startswith(TESTED):
        raise RuntimeError(
            f"tracing is tested with transformers {TESTED}x, received {transformers.__version__}"
        )
    with _lock:
        for config in configs:
            name = config._attn_implementation_internal
            if not isinstance(name, TracedName):
                name = config._attn_implementation_internal = TracedName.replacing(name)
            name.traces += change
            if not name.traces:
                config._attn_implementation_internal = name.previous


def untraced_implementation(config: PretrainedConfig | None) -> str | None:
    """The name a config has when nothing traces."""
    name = getattr(config, "_attn_implementation_internal", None)
    if isinstance(name, TracedName):
        return name.previous
    return None if name == NAME else name  # a copy of a traced config forgets the name


def is_traced(config: PretrainedConfig) -> bool:
    """Whether a trace uses the config now."""
    return isinstance(config._attn_implementation_internal, TracedName)


def configs_of(network: nn.Module) -> list[PretrainedConfig]:
    """Every config in which a part of the network looks its attention up, each once."""
    found: dict[int, PretrainedConfig] = {}
    waiting = [getattr(module, "config", None) for module in network.modules()]
    while waiting:
        config = waiting.pop()
        if isinstance(config, PretrainedConfig) and id(config) not in found:
            found[id(config)] = config
            waiting += [getattr(config, name, None) for name in config.sub_configs]
    return list(found.values())

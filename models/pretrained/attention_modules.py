"""Finds the attention modules of a network: path, tower, and whether they cross-attend.

Towers are told untraceable by the first part of their paths that differs: `text_model.…` and
`vision_model.…`, `encoder.…` and `decoder.…`.
"""

import inspect
import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from torch import nn

CROSS = re.compile(r"cross|enc_?dec|encoder_attn|encoder_decoder", re.IGNORECASE)
NO_LAYERS = ("torch.nn.modules.module", "transformers.modeling_utils")
SUFFIX = re.compile(r"_(model|tower|stack|module)$")


@dataclass(frozen=True)
class AttentionModule:
    """An attention layer of a network.

    Attributes:
        path: dotted name in the network.
        tower: name of the tower; None if there is only one.
        cross: whether its name marks it as cross-attention.
    """

    path: str
    tower: str | None
    cross: bool


@dataclass(frozen=True, eq=False)
class AttentionModules:
    """The attention layers of a network.

    Attributes:
        modules: by the id of the module.
        untraceable: class names of attention layers that bypass the interface.
    """

    modules: dict[int, AttentionModule]
    untraceable: tuple[str, ...]

    @staticmethod
    def find_in(network: nn.Module) -> "AttentionModules":
        """Finds them by the source of their classes: those that use the attention interface."""
        named = [
            (name, module, _uses_interface(type(module)))
            for name, module in network.named_modules()
        ]
        within = {name: module for name, module, uses in named if uses}
        towers = _towers(list(within))
        modules = {
            id(module): AttentionModule(name, towers[name], _crosses(name, module))
            for name, module in within.items()
        }
        untraceable = sorted({type(module).__name__ for _, module, uses in named if uses is False})
        return AttentionModules(modules, tuple(untraceable))

    def of(self, module: nn.Module) -> AttentionModule:
        """The entry of a module; one whose source cannot be read has no tower."""
        name = type(module).__name__
        return self.modules.get(id(module), AttentionModule(name, None, bool(CROSS.search(name))))


@lru_cache(maxsize=4096)
def _uses_interface(kind: type[nn.Module]) -> bool | None:
    """Whether a module uses the attention interface; None if it is no attention layer."""
    parts = [part for part in kind.__mro__ if part.__module__ not in NO_LAYERS]
    source = "".join(_source(part) for part in parts if issubclass(part, nn.Module))
    if "ALL_ATTENTION_FUNCTIONS" in source or "attention_interface(" in source:
        return True
    computes = re.search(r"softmax\(|scaled_dot_product", source)
    return False if "Attention" in kind.__name__ and computes else None


@lru_cache(maxsize=4096)
def _source(kind: type) -> str:
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):
        return ""


def _crosses(name: str, module: nn.Module) -> bool:
    return bool(CROSS.search(f"{name}.{type(module).__name__}"))


def _towers(paths: list[str]) -> dict[str, str | None]:
    """The tower of each path: the first component in which the layer stacks differ."""
    hidden_states = {path: _states_of(path) for path in paths}
    different = sorted(set(hidden_states.values()))
    if len(different) < 2:
        return dict.fromkeys(paths)
    alike = (len(set(parts)) == 1 for parts in zip(*different, strict=False))
    shared = sum(1 for _ in takewhile(bool, alike))
    names = {stack: stack[shared] if len(stack) > shared else stack[-1] for stack in different}
    return {path: SUFFIX.sub("", names[stack]) for path, stack in hidden_states.items()}


def _states_of(path: str) -> tuple[str, ...]:
    """The path up to the layer index."""
    parts = path.split(".")
    numbers = [index for index, part in enumerate(parts) if part.isdigit()]
    return tuple(parts[: numbers[0]] if numbers else parts[:-1])

"""Key–value caches among the arguments of a model, which a forward pass lengthens."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from torch import Tensor

CACHES = ("past_key_values", "cache_params")  # arguments that hold one
BESIDE = ("attention_mask", "position_ids", "cache_position", "use_cache")  # as long as the cache


def with_own_caches(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, with copies of the caches, so that a pass leaves the caller's as they are."""
    return {
        name: _copied(value) if name in CACHES and value is not None else value
        for name, value in arguments.items()
    }


def without_caches(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a pass over the given tokens alone."""
    if not any(arguments.get(name) is not None for name in CACHES):
        return dict(arguments)
    left = (*CACHES, *BESIDE)
    return {name: value for name, value in arguments.items() if name not in left}


def cached_tokens(arguments: Mapping[str, Any]) -> int:
    """How many tokens the cache of the arguments holds; 0 without one."""
    cache = arguments.get("past_key_values")
    if cache is None or not len(cache):
        return 0
    if hasattr(cache, "get_seq_length"):
        return int(cache.get_seq_length())
    return cache[0][0].shape[-2]


def _copied(cache: Any) -> Any:
    """A deep copy; tensors keep their graph, which `deepcopy` alone would refuse."""
    return copy.deepcopy(cache, {id(tensor): tensor.clone() for tensor in _tensors(cache)})


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _tensors(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each)
    elif type(value).__module__.startswith("transformers.cache_utils"):
        yield from _tensors(vars(value))

"""Shared by the converters: checks of settings, activation names, renaming of weights."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch import Tensor

ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}
NO_WEIGHTS = ("position_ids", "token_type_ids")  # tables of 0, 1, 2, …


SPARE = re.compile(r"(^|\.)(pooler|mask_token)(\.|$)")  # of weights that no output depends on


def heads_in(left_out: Iterable[str]) -> tuple[str, ...]:
    """The weights of heads among those that a network has no place for."""
    return tuple(name for name in left_out if not SPARE.search(name))


def check_settings(
    settings: Mapping[str, Any],
    needed: Mapping[str, str],
    must_be: Mapping[str, Any],
    known: set[str],
    beside_the_point: re.Pattern[str],
) -> None:
    """Raises ValueError for a setting that is missing, unknown, or asks for another architecture.

    Args:
        settings: the contents of a config.json.
        needed: settings without which there is no network.
        must_be: settings with the only value that is known here (or null).
        known: other settings that are read.
        beside_the_point: names of settings that leave no trace in the network.
    """
    missing = [name for name in needed if name not in settings]
    if missing:
        raise ValueError(f"config.json lacks {', '.join(missing)}")
    for name, value in settings.items():
        if name in must_be and value not in (must_be[name], None):
            raise ValueError(f"{name}: expected {must_be[name]!r}, received {value!r}")
    read = {*needed, *must_be, *known}
    unknown = [n for n in settings if n not in read and not beside_the_point.fullmatch(n)]
    if unknown:
        raise ValueError(f"config.json has settings this converter does not know: {unknown}")


def whole(name: str, value: Any) -> int:
    """The value, if it is a whole number from 1; else ValueError."""
    if type(value) is not int or value < 1:
        raise ValueError(f"{name}: expected a whole number from 1, received {value!r}")
    return value


def number(name: str, value: Any) -> float:
    """The value, if it is a number; else ValueError."""
    if not isinstance(value, int | float):
        raise ValueError(f"{name}: expected a number, received {value!r}")
    return value


def activation(name: Any) -> str:
    """Our name for an activation; ValueError for one that is not known here."""
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise ValueError(f"hidden_act: expected one of {list(ACTIVATIONS)}, received {name!r}")
    return ACTIVATIONS[name]


def renamed(
    state: Mapping[str, Tensor],
    table: Mapping[str, str],
    plain: Callable[[str], str],
    beside: re.Pattern[str] | None,
    what: str,
) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """A checkpoint under our names.

    Args:
        state: the checkpoint.
        table: their plain names, ours.
        plain: takes prefixes and old spellings off their names.
        beside: plain names of weights that are left out; None where all have a place.
        what: the network, for the error.

    Returns:
        The weights under our names, and the names of the weights that were left out.

    Raises:
        ValueError: for a weight that is missing or that has no place in the network.
    """
    converted, left_out, unknown = {}, [], []
    for name, tensor in state.items():
        short = plain(name)
        if short in table:
            converted[table[short]] = tensor
        elif short.endswith(NO_WEIGHTS):
            continue
        elif beside is not None and beside.fullmatch(short):
            left_out.append(name)
        else:
            unknown.append(name)
    if unknown:
        raise ValueError(f"the checkpoint has weights with no place in {what}: {unknown[:5]}")
    missing = [theirs for theirs, ours in table.items() if ours not in converted]
    if missing:
        raise ValueError(f"the checkpoint lacks {', '.join(missing[:5])}")
    return converted, tuple(left_out)

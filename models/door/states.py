"""Hidden states of a library's model, by the towers its attention has."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from models.door.streams import Streams, side_of
from models.trace import Site, Stack

# Where an output keeps hidden states, and the tower they are of.
TOWERS = {"encoder_hidden_states": "encoder", "decoder_hidden_states": "decoder"}
PARTS = {"text_model_output": "text", "vision_model_output": "vision"}


def stacks(
    out: Any, sites: Sequence[Site], streams: Streams, config: Any
) -> dict[str | None, Stack]:
    """Hidden states by tower; None is the name of the only one.

    States that are no `batch token dim` (maps of convolutions) are left out.
    """
    found: dict[str | None, Any] = {}
    for name, tower in TOWERS.items():
        found[tower] = getattr(out, name, None)
    for name, tower in PARTS.items():
        found[tower] = getattr(getattr(out, name, None), "hidden_states", None)
    if not any(states is not None for states in found.values()):
        found = {sites[-1].tower: getattr(out, "hidden_states", None)}
    return {
        tower: _stack(states, tower or "", streams, config)
        for tower, states in found.items()
        if states is not None and all(state.ndim == 3 for state in states)
    }


def _stack(states: Sequence[Tensor], tower: str, streams: Streams, config: Any) -> Stack:
    free = tuple(state.detach() for state in states)
    sides = (side_of(streams, tower, x.shape[1], x.shape[0], config) for x in free)
    return Stack(free, tuple(sides))

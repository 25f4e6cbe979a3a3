"""What the rows and columns of a library's attention stand for.

A model reads one or more streams: a text, an image, a recording, what a decoder writes. An axis of
an attention matrix is matched to a stream by the tower it is in and by its length; an axis that is
none of them (frames after convolutions, learned queries) is numbered.
"""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from models.inputs.streams import MOST_PREFIX, Streams, named_tokens, patch_tokens
from models.pretrained.interface import Call
from models.text import Tokens
from models.trace import Side, Site, Stack

SEEING, HEARING = ("visi", "visual", "image", "pixel"), ("audio", "speech", "sound")


def sides_of(call: Call, streams: Streams, config: Any) -> tuple[Side, Side]:
    """What rows and columns of a call stand for."""
    pattern = call.pattern
    if call.blocks is not None and call.blocks.grid is not None:
        patches = Tokens.of_patches((), *call.blocks.grid)
        outside = named_tokens([f"outside {row},{col}" for row, col in call.blocks.outside])
        queries = Side((patches,) * pattern.batch)
        return queries, Side(((patches + outside) if outside.ids else patches,) * pattern.batch)
    tower = (call.place.tower or "").lower()
    rows = side_of(streams, tower, pattern.queries, pattern.batch, config)
    if call.kind != "cross":
        return rows, rows
    others = {name: stream for name, stream in streams.items() if name != "target"}
    return rows, side_of(others, "", pattern.keys, pattern.batch, config)


def side_of(streams: Streams, tower: str, length: int, batch: int, config: Any) -> Side:
    """The stream an axis of this length most likely is."""
    order = ["text", "image", "sound", "target"]
    if "decoder" in tower and "target" in streams:
        order.insert(0, "target")
    elif any(part in tower for part in SEEING):
        order.insert(0, "image")
    elif any(part in tower for part in HEARING):
        order.insert(0, "sound")
    for name in dict.fromkeys(order):
        stream = streams.get(name)
        if stream is None or len(stream.tokens) != batch:
            continue
        if stream.length == length:
            return stream.side
        if name == "image" and stream.grid is not None:
            extra = length - stream.grid[0] * stream.grid[1]
            part = getattr(config, "vision_config", None) or config
            if 0 <= extra <= MOST_PREFIX:
                return Side((patch_tokens(part, extra, *stream.grid),) * batch)
    what = "frame" if "sound" in streams else "position"
    numbered = named_tokens([f"{what} {index}" for index in range(length)], special=False)
    return Side((numbered,) * batch)


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

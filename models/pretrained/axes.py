"""Token axes of attention in transformers models: what rows and columns stand for.

An axis of an attention matrix is matched to an input sequence (text, image, audio, target) by its
tower and its length; one that matches none (frames after convolutions, learned queries) is
numbered.
"""

from typing import Any

from models.inputs.sequences import MOST_PREFIX, InputSequences, named_tokens, patch_tokens
from models.pretrained.interface import Call
from models.text import Tokens
from models.trace import TokenAxis

SEEING, HEARING = ("visi", "visual", "image", "pixel"), ("audio", "speech", "sound")


def axes_of(call: Call, sequences: InputSequences, config: Any) -> tuple[TokenAxis, TokenAxis]:
    """The token axes of rows and columns of a call."""
    pattern = call.pattern
    if call.blocks is not None and call.blocks.grid is not None:
        patches = Tokens.of_patches((), *call.blocks.grid)
        outside = named_tokens([f"outside {row},{col}" for row, col in call.blocks.outside])
        queries = TokenAxis((patches,) * pattern.batch)
        return queries, TokenAxis(
            ((patches + outside) if outside.ids else patches,) * pattern.batch
        )
    tower = (call.module.tower or "").lower()
    rows = match_axis(sequences, tower, pattern.queries, pattern.batch, config)
    if call.kind != "cross":
        return rows, rows
    others = {name: sequence for name, sequence in sequences.items() if name != "target"}
    return rows, match_axis(others, "", pattern.keys, pattern.batch, config)


def match_axis(
    sequences: InputSequences, tower: str, length: int, batch: int, config: Any
) -> TokenAxis:
    """The sequence that matches an axis by tower and length."""
    order = ["text", "image", "sound", "target"]
    if "decoder" in tower and "target" in sequences:
        order.insert(0, "target")
    elif any(part in tower for part in SEEING):
        order.insert(0, "image")
    elif any(part in tower for part in HEARING):
        order.insert(0, "sound")
    for name in dict.fromkeys(order):
        sequence = sequences.get(name)
        if sequence is None or len(sequence.tokens) != batch:
            continue
        if sequence.length == length:
            return sequence.axis
        if name == "image" and sequence.grid is not None:
            extra = length - sequence.grid[0] * sequence.grid[1]
            part = getattr(config, "vision_config", None) or config
            if 0 <= extra <= MOST_PREFIX:
                return TokenAxis((patch_tokens(part, extra, *sequence.grid),) * batch)
    what = "frame" if "sound" in sequences else "position"
    numbered = named_tokens([f"{what} {index}" for index in range(length)], special=False)
    return TokenAxis((numbered,) * batch)

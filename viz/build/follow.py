"""A token on its way up the residual stream: what each part adds, and what it would predict."""

from dataclasses import dataclass

import torch

from analysis.outputs import vocabulary_of
from models.model import Model
from models.stream import Write
from models.trace import Trace


@dataclass(frozen=True)
class Part:
    """What one part of the network adds to a token's vector.

    Attributes:
        name: of the part; of a layer's heads together.
        size: length of what it adds.
        stream: length of the stream behind it.
        direction: cosine of what it adds and the stream as it ends.
        word: what the network would predict, had it ended here; "" where it predicts no words.
        chance: the probability of that word.
    """

    name: str
    size: float
    stream: float
    direction: float
    word: str
    chance: float


@torch.no_grad()
def follow(trace: Trace, token: int, model: Model | None = None) -> list[Part]:
    """The parts in the order in which they write, for one token of the output.

    A norm between them acts on the stream; its scale is not counted as a part.

    Args:
        trace: of a network whose blocks add attention and feed-forward networks to a stream.
        token: which one.
        model: whose vocabulary names the words; None for no words.

    Raises:
        ValueError: for a token that is not there, or a network whose parts are not known.
    """
    stream = trace.stream(None, [token])
    end = stream.state[0].double()
    vocabulary = None if model is None else vocabulary_of(model, trace)
    try:
        readout = None if vocabulary is None else trace.readout()
    except ValueError:
        readout = None
    parts: list[Part] = []
    now, pending, name = torch.zeros_like(end), torch.zeros_like(end), ""

    def finish() -> None:
        if not name:
            return
        word, chance = "", 0.0
        if readout is not None and vocabulary is not None:
            shares = readout(now.to(stream.state.dtype)[None])[0].float().softmax(-1)
            best = int(shares.argmax())
            word, chance = vocabulary.name(best), float(shares[best])
        towards = torch.cosine_similarity(pending, end, dim=0)
        lengths = float(pending.norm()), float(now.norm())
        parts.append(Part(name, *lengths, float(towards), word, chance))

    for step in stream.steps:
        if not isinstance(step, Write):
            finish()
            name, pending = "", torch.zeros_like(end)
            now = step.norm(now)
            continue
        part = _part_of(step.name, name)
        if part != name:
            finish()
            name, pending = part, torch.zeros_like(end)
        vector = step.vectors[0].double()
        now, pending = now + vector, pending + vector
    finish()
    return parts


def _part_of(write: str, current: str) -> str:
    """The part that a write belongs to: the heads of a layer and its bias are one."""
    layer, _, rest = write.partition(", ")
    if rest.startswith("head"):
        return f"{layer}, attention"
    if rest.startswith("cross head"):
        return f"{layer}, cross-attention"
    return current if write == "biases" and current.endswith("attention") else write

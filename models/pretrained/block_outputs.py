"""What leaves the blocks of a network, noted by hooks while a trace runs.

The library's last hidden state is after the final norm in most families and before it in others;
what leaves the last block tells which.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import Tensor, nn

from models.hooks import hooked
from models.pretrained.attention_modules import AttentionModules


@dataclass(eq=False)
class BlockOutputs:
    """What leaves the blocks and the body of a network in one pass.

    Attributes:
        last: by tower, the outputs of the last two blocks that ran.
        body: output of the network without its head.
    """

    last: dict[str | None, tuple[Tensor, ...]] = field(default_factory=dict)
    body: Any = None


@contextmanager
def block_outputs(network: Any, modules: AttentionModules) -> Iterator[BlockOutputs]:
    """Records the output of each block, in passes of this thread."""
    outputs = BlockOutputs()

    def note_block(tower: str | None, _: nn.Module, args: tuple, kwargs: dict, out: Any) -> None:
        state = out[0] if isinstance(out, tuple | list) and out else out
        if isinstance(state, Tensor):
            outputs.last[tower] = (*outputs.last.get(tower, ())[-1:], state)

    def note_body(_: nn.Module, args: tuple, kwargs: dict, out: Any) -> None:
        outputs.body = out

    blocks = [(each, partial(note_block, tower)) for tower, _, each in blocks_of(network, modules)]
    with hooked(after=[*blocks, (network.base_model, note_body)]):
        yield outputs


def blocks_of(
    network: nn.Module, modules: AttentionModules
) -> Iterator[tuple[str | None, str, nn.Module]]:
    """The blocks of each stack that has attention, with their tower and path."""
    stacks: dict[str, str | None] = {}
    for place in modules.modules.values():
        parts = place.path.split(".")
        first = next((index for index, part in enumerate(parts) if part.isdigit()), None)
        if first is not None:
            stacks.setdefault(".".join(parts[:first]), place.tower)
    for path, tower in stacks.items():
        for name, block in network.get_submodule(path).named_children():
            yield tower, f"{path}.{name}", block

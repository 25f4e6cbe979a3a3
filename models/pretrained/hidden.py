"""Hidden states of transformers models: what leaves each layer, and the last state after its norm.

The library's last hidden state is after the final norm in most families and before it in others.
While a trace runs, hooks on the blocks therefore note what leaves the last of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any

from torch import Tensor, nn

from models.inputs.sequences import InputSequences
from models.pretrained.attention_modules import AttentionModules
from models.pretrained.axes import match_axis
from models.trace import HiddenStates

# Output fields with hidden states, and their tower.
TOWERS = {"encoder_hidden_states": "encoder", "decoder_hidden_states": "decoder"}
PARTS = {"text_model_output": "text", "vision_model_output": "vision"}


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
    """Inside, what leaves the blocks of the network is noted, in passes of this thread."""
    found, thread = BlockOutputs(), get_ident()

    def note_block(tower: str | None, out: Any) -> None:
        state = out[0] if isinstance(out, tuple | list) and out else out
        if get_ident() == thread and isinstance(state, Tensor):
            found.last[tower] = (*found.last.get(tower, ())[-1:], state.detach())

    def note_body(_: nn.Module, __: Any, out: Any) -> None:
        if get_ident() == thread:
            found.body = out

    hooks = [
        block.register_forward_hook(lambda _, __, out, tower=tower: note_block(tower, out))
        for tower, block in _blocks(network, modules)
    ]
    hooks.append(network.base_model.register_forward_hook(note_body))
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def _blocks(
    network: nn.Module, modules: AttentionModules
) -> Iterator[tuple[str | None, nn.Module]]:
    """The blocks of each stack that has attention, with their tower."""
    stacks: dict[str, str | None] = {}
    for place in modules.modules.values():
        parts = place.path.split(".")
        first = next((index for index, part in enumerate(parts) if part.isdigit()), None)
        if first is not None:
            stacks.setdefault(".".join(parts[:first]), place.tower)
    for path, tower in stacks.items():
        for block in network.get_submodule(path).children():
            yield tower, block


def states_of(out: Any, only: str | None) -> dict[str | None, tuple[Tensor, ...]]:
    """Hidden states by tower, with their graph.

    States that are no `batch token dim` (maps of convolutions) are left out.

    Args:
        out: of the network.
        only: the tower whose states they are where the output does not say.
    """
    found: dict[str | None, Any] = {}
    for name, tower in TOWERS.items():
        found[tower] = getattr(out, name, None)
    for name, tower in PARTS.items():
        found[tower] = getattr(getattr(out, name, None), "hidden_states", None)
    if not any(states is not None for states in found.values()):
        found = {only: getattr(out, "hidden_states", None)}
    return {
        tower: tuple(states)
        for tower, states in found.items()
        if states is not None and all(state.ndim == 3 for state in states)
    }


def hidden_states(
    towers: Mapping[str | None, Sequence[Tensor]],
    gradients: Mapping[str | None, Sequence[Tensor | None]],
    blocks: BlockOutputs,
    sequences: InputSequences,
    config: Any,
) -> dict[str | None, HiddenStates]:
    """Hidden states by tower; None is the name of the only one.

    Args:
        towers: from `states_of`.
        gradients: with respect to them; empty if not requested.
        blocks: what left the last blocks.
        sequences: inputs of the network.
        config: of the network.
    """
    return {
        tower: _states_of(states, gradients.get(tower, ()), blocks, tower, sequences, config)
        for tower, states in towers.items()
    }


def _states_of(
    states: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    blocks: BlockOutputs,
    tower: str | None,
    sequences: InputSequences,
    config: Any,
) -> HiddenStates:
    free = tuple(state.detach() for state in states)
    axes = tuple(match_axis(sequences, tower or "", x.shape[1], x.shape[0], config) for x in free)
    last = _last(free, blocks.last.get(tower, ()))
    final = _final(blocks.body, tower)
    found: tuple[Tensor | None, ...] = tuple(gradients)
    if not last.equal(free[-1]):
        found = (*found[:-1], None) if found else ()
        final = free[-1] if final is None else final  # the normed state counted as the last
    if final is not None and final.shape[:2] != last.shape[:2]:
        final = None
    final = None if final is None else final.detach()
    return HiddenStates((*free[:-1], last), axes, final, found)


def _last(states: Sequence[Tensor], blocks: Sequence[Tensor]) -> Tensor:
    """What leaves the last block, where the block before it gave the state before it."""
    if not blocks or blocks[-1].shape != states[-1].shape:
        return states[-1]
    alike = len(states) < 3 or (len(blocks) > 1 and blocks[-2].equal(states[-2]))
    return blocks[-1] if alike else states[-1]


def _final(body: Any, tower: str | None) -> Tensor | None:
    """The last hidden state of a tower, after its final norm if there is one."""
    if tower == "encoder" and hasattr(body, "encoder_last_hidden_state"):
        return body.encoder_last_hidden_state
    part = getattr(body, f"{tower}_model_output", body)
    found = getattr(part, "last_hidden_state", None)
    return found if isinstance(found, Tensor) else None

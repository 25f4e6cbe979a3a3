"""Hidden states of transformers models: what leaves each layer, and the last state after its norm.

Their tokens are those of the attention layer that reads them. States of windows are brought into
the order of their image.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from models.pretrained.axes import numbered_axis
from models.pretrained.block_outputs import BlockOutputs
from models.pretrained.recording import Call
from models.trace import HiddenStates

# Output fields with hidden states, and their tower.
TOWERS = {"encoder_hidden_states": "encoder", "decoder_hidden_states": "decoder"}
PARTS = {"text_model_output": "text", "vision_model_output": "vision"}


def states_of(out: Any, only: str | None) -> dict[str | None, tuple[Tensor, ...]]:
    """Hidden states by tower, with their graph.

    States that are no `batch token dim` (maps of convolutions) are left out.

    Args:
        out: of the network.
        only: the tower whose states they are where the output does not say.
    """
    by_tower: dict[str | None, Any] = {}
    for name, tower in TOWERS.items():
        by_tower[tower] = getattr(out, name, None)
    for name, tower in PARTS.items():
        by_tower[tower] = getattr(getattr(out, name, None), "hidden_states", None)
    if not any(states is not None for states in by_tower.values()):
        by_tower = {only: getattr(out, "hidden_states", None)}
    return {
        tower: tuple(states)
        for tower, states in by_tower.items()
        if states is not None and all(state.ndim == 3 for state in states)
    }


def with_finals(
    towers: Mapping[str | None, Sequence[Tensor]], blocks: BlockOutputs
) -> dict[str | None, tuple[Tensor, ...]]:
    """The states of each tower, then the one after its final norm, where the network gives it."""
    ended = {tower: (*states, _final(blocks.body, tower)) for tower, states in towers.items()}
    return {
        tower: tuple(state for state in states if state is not None)
        for tower, states in ended.items()
    }


def hidden_states(
    towers: Mapping[str | None, Sequence[Tensor]],
    gradients: Mapping[str | None, Sequence[Tensor | None]],
    blocks: BlockOutputs,
    calls: Sequence[Call],
) -> dict[str | None, HiddenStates]:
    """Hidden states by tower; None is the name of the only one.

    Args:
        towers: from `states_of`.
        gradients: with respect to them and their final states; empty if not requested.
        blocks: what left the last blocks.
        calls: of attention, which know what their tokens are.
    """
    return {
        tower: _states_of(states, gradients.get(tower, ()), blocks, tower, calls)
        for tower, states in towers.items()
        if states
    }


def _states_of(
    states: Sequence[Tensor],
    gradients: Sequence[Tensor | None],
    blocks: BlockOutputs,
    tower: str | None,
    calls: Sequence[Call],
) -> HiddenStates:
    free = tuple(state.detach() for state in states)
    last = last_state(free, blocks, tower).detach()
    final = _final(blocks.body, tower)
    gradients_in_order: tuple[Tensor | None, ...] = tuple(gradients[: len(free)])
    to_final = None if len(gradients) == len(gradients_in_order) else gradients[-1]
    if not last.equal(free[-1]):
        if final is None:  # the normed state counted as the last
            final, to_final = free[-1], gradients[-1] if gradients else None
        gradients_in_order = (*gradients_in_order[:-1], None) if gradients_in_order else ()
    if final is None or final.shape[:2] != last.shape[:2]:
        final = to_final = None
    readers = [_reader(x, tower, index, calls) for index, x in enumerate(free)]
    ordered = [_in_order(x, call) for x, call in zip((*free[:-1], last), readers, strict=True)]
    source = next((call.entry.source for call in calls if call.entry.place.tower == tower), "text")
    axes = [
        numbered_axis(source, x.shape[1], x.shape[0], None) if call is None else call.axes[0]
        for x, call in zip(ordered, readers, strict=True)
    ]
    final = None if final is None else _in_order(final.detach(), readers[-1])
    to_final = None if to_final is None else _in_order(to_final, readers[-1])
    gradients_in_order = tuple(
        None if x is None else _in_order(x, call)
        for x, call in zip(gradients_in_order, readers[: len(gradients_in_order)], strict=True)
    )
    return HiddenStates(tuple(ordered), tuple(axes), final, gradients_in_order, to_final)


def _reader(state: Tensor, tower: str | None, index: int, calls: Sequence[Call]) -> Call | None:
    """The attention call whose queries are the tokens of a state: at best of the layer that reads
    it, else of the one before. None if no call of its tower has such tokens."""
    fitting = [
        call
        for call in calls
        if call.entry.place.tower == tower and call.kind != "cross" and _shaped(state, call)
    ]
    return min(fitting, key=lambda call: abs(call.entry.layer - index), default=None)


def _shaped(state: Tensor, call: Call) -> bool:
    """Whether a state holds the tokens of a call, or those of its windows one by one."""
    batch, length = call.pattern.batch, call.pattern.queries
    if call.blocks is not None and _in_windows(state, call):
        return True
    return state.shape[:2] == (batch, length)


def _in_windows(state: Tensor, call: Call) -> bool:
    """Whether the items of a state are the windows that attention was given."""
    if call.blocks is None:
        return False
    count, slots = call.blocks.positions.shape
    return count > 1 and state.shape[:2] == (call.pattern.batch * count, slots)


def _in_order(state: Tensor, call: Call | None) -> Tensor:
    """The state of windows as that of their items; any other as it is."""
    if call is None or call.blocks is None or not _in_windows(state, call):
        return state
    return call.blocks.merge_states(state)


def last_state(states: Sequence[Tensor], outputs: BlockOutputs, tower: str | None) -> Tensor:
    """What leaves the last block, where the block before it gave the state before it."""
    blocks = list(outputs.last.get(tower, ()))
    if not blocks or blocks[-1].shape != states[-1].shape:
        return states[-1]
    alike = len(states) < 3 or (len(blocks) > 1 and blocks[-2].equal(states[-2]))
    return blocks[-1] if alike else states[-1]


def _final(body: Any, tower: str | None) -> Tensor | None:
    """The last hidden state of a tower, after its final norm if there is one."""
    if tower == "encoder" and hasattr(body, "encoder_last_hidden_state"):
        return body.encoder_last_hidden_state
    part = getattr(body, f"{tower}_model_output", body)
    state = getattr(part, "last_hidden_state", None)
    return state if isinstance(state, Tensor) else None

"""Hidden states of transformers models: what leaves each layer, and the last state after its norm.

Their tokens are those of the attention layer that reads them. States of windows are brought into
the order of their image.
"""

from collections.abc import Mapping, Sequence

from torch import Tensor

from models.pretrained.axes import numbered_axis
from models.pretrained.recording import Call
from models.trace import HiddenStates


def hidden_states(
    towers: Mapping[str | None, Sequence[Tensor]],
    finals: Mapping[str | None, Tensor],
    gradients: Mapping[str | None, Sequence[Tensor | None]],
    calls: Sequence[Call],
) -> dict[str | None, HiddenStates]:
    """Hidden states by tower; None is the name of the only one.

    Args:
        towers: the states between blocks.
        finals: the last ones after a final norm.
        gradients: with respect to the states, then the final one; empty if not requested.
        calls: of attention, which know what their tokens are.
    """
    return {
        tower: _states_of(states, finals.get(tower), gradients.get(tower, ()), tower, calls)
        for tower, states in towers.items()
    }


def _states_of(
    states: Sequence[Tensor],
    final: Tensor | None,
    gradients: Sequence[Tensor | None],
    tower: str | None,
    calls: Sequence[Call],
) -> HiddenStates:
    count = len(states)
    readers = [_reader(x, tower, index, calls) for index, x in enumerate(states)]
    to_final = gradients[count] if len(gradients) > count else None
    if final is None or final.shape[:2] != states[-1].shape[:2]:
        final = to_final = None
    source = next((call.entry.source for call in calls if call.entry.place.tower == tower), "text")
    ordered = tuple(map(_in_order, states, readers))
    axes = tuple(
        numbered_axis(source, x.shape[1], x.shape[0], None) if call is None else call.axes[0]
        for x, call in zip(ordered, readers, strict=True)
    )
    ends = [None if x is None else _in_order(x, readers[-1]) for x in (final, to_final)]
    to_states = tuple(
        None if x is None else _in_order(x, call)
        for x, call in zip(gradients[:count], readers, strict=False)
    )
    return HiddenStates(ordered, axes, ends[0], to_states, ends[1])


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
    return _in_windows(state, call) or state.shape[:2] == (call.pattern.batch, call.pattern.queries)


def _in_windows(state: Tensor, call: Call) -> bool:
    """Whether the items of a state are the windows that attention was given."""
    if call.blocks is None:
        return False
    count, slots = call.blocks.positions.shape
    return count > 1 and state.shape[:2] == (call.pattern.batch * count, slots)


def _in_order(state: Tensor, call: Call | None) -> Tensor:
    """The state of windows as that of their items; any other as it is. Without its graph."""
    if call is None or call.blocks is None or not _in_windows(state, call):
        return state.detach()
    return call.blocks.merge_states(state).detach()

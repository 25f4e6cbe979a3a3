"""Hidden states of transformers models: what leaves each block, and the last state after its norm.

What the library gives as its last hidden state is after the final norm in most families and before
it in others; what leaves a block, noted by hooks while a trace runs, is before it in all. The
tokens of a state are those of the attention layer that reads it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from torch import Tensor, nn

from models.pretrained.attention_modules import AttentionModules, alive, blocks_of
from models.pretrained.axes import numbered_axis
from models.pretrained.recording import Call
from models.structure import hooked
from models.trace import HiddenStates, TokenAxis

Tower = str | None


@dataclass(eq=False)
class BlockStates:
    """The states between the blocks of a network in one pass, with their graph.

    Attributes:
        states: by tower, what entered its first block, then what left each.
        final: by tower, the last state after the final norm: the `last_hidden_state` of the
            outermost module that has layers of this tower alone and gives one.
    """

    states: dict[Tower, list[Tensor]] = field(default_factory=dict)
    final: dict[Tower, Tensor] = field(default_factory=dict)


@contextmanager
def block_states(network: Any, modules: AttentionModules) -> Iterator[BlockStates]:
    """Records the states between blocks, in passes of this thread.

    Those that are no `batch token dim` (maps of convolutions) are left out.
    """
    noted = BlockStates()

    def note(tower: Tower, first: bool, _: nn.Module, args: tuple, kwargs: dict, out: Any) -> None:
        given = next((x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)), None)
        left, states = out[0] if isinstance(out, tuple | list) and out else out, noted.states
        again = tower in states and given is states[tower][-1]
        if first and given is not None and given.ndim == 3 and not again:
            states[tower] = [given]
        if tower in states and isinstance(left, Tensor) and left.ndim == 3:
            states[tower].append(left)

    def note_final(tower: Tower, _: nn.Module, args: tuple, kwargs: dict, out: Any) -> None:
        state, states = getattr(out, "last_hidden_state", None), noted.states.get(tower)
        if states and isinstance(state, Tensor) and state.shape[:2] == states[-1].shape[:2]:
            noted.final[tower] = state

    seen, after = set[Tower](), []
    for tower, _, block in blocks_of(network, modules):
        after.append((block, partial(note, tower, tower not in seen)))
        seen.add(tower)
    for path, module in alive(modules.containers):
        inside = {place.tower for place in modules.modules.values() if path in place.above}
        after += [(module, partial(note_final, inside.pop()))] if len(inside) == 1 else []
    with hooked(after=after):
        yield noted


def hidden_states(noted: BlockStates, calls: Sequence[Call]) -> dict[Tower, HiddenStates]:
    """Hidden states by tower, with their graph; None is the name of the only one.

    Args:
        noted: of the pass.
        calls: of attention, which know what their tokens are.
    """
    towers: dict[Tower, HiddenStates] = {}
    for tower, states in noted.states.items():
        inside = [call for call in calls if call.entry.place.tower == tower]
        axes = tuple(_axis(x, index, inside) for index, x in enumerate(states))
        towers[tower] = HiddenStates(tuple(states), axes, noted.final.get(tower))
    return towers


def _axis(state: Tensor, index: int, calls: Sequence[Call]) -> TokenAxis:
    """The tokens of a state: the queries of the layer that reads it at best, else of the one
    before; numbers if no attention of its tower has as many."""
    fitting = [
        call
        for call in calls
        if call.kind != "cross" and state.shape[:2] == (call.pattern.batch, call.pattern.queries)
    ]
    reader = min(fitting, key=lambda call: abs(call.entry.layer - index), default=None)
    if reader is not None:
        return reader.axes[0]
    source = calls[0].entry.source if calls else "text"
    return numbered_axis(source, state.shape[1], state.shape[0], None)

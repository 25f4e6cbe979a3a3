"""What enters and leaves the blocks of a network, noted by hooks while a trace runs.

What the library gives as its last hidden state is after the final norm in most families and before
it in others; what leaves a block is before it in all.
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
class BlockStates:
    """The states between the blocks of a network in one pass.

    Attributes:
        states: by tower, what entered its first block, then what left each; with their graph.
        stacks: by tower, output of the module that holds its blocks.
        body: output of the network without its head.
    """

    states: dict[str | None, list[Tensor]] = field(default_factory=dict)
    stacks: dict[str | None, Any] = field(default_factory=dict)
    body: Any = None

    def finals(self, main: str | None) -> dict[str | None, Tensor]:
        """By tower the last state after its final norm, where the network gives it.

        Args:
            main: the tower whose last state the body returns.
        """
        states = {tower: self._final(tower, main) for tower in self.states}
        return {tower: each for tower, each in states.items() if isinstance(each, Tensor)}

    def _final(self, tower: str | None, main: str | None) -> Any:
        if tower == "encoder" and hasattr(self.body, "encoder_last_hidden_state"):
            return self.body.encoder_last_hidden_state
        part = getattr(self.body, f"{tower}_model_output", self.body if tower == main else None)
        stack = getattr(self.stacks.get(tower), "last_hidden_state", None)
        return getattr(part, "last_hidden_state", stack)


@contextmanager
def block_states(network: Any, modules: AttentionModules) -> Iterator[BlockStates]:
    """Records the states between blocks, in passes of this thread.

    Those that are no `batch token dim` (maps of convolutions) are left out.
    """
    noted = BlockStates()

    def enters(tower: str | None, _: nn.Module, args: tuple, kwargs: dict) -> None:
        state = next((x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)), None)
        states = noted.states.get(tower)
        if state is not None and state.ndim == 3 and not (states and state is states[-1]):
            noted.states[tower] = [state]

    def leaves(tower: str | None, _: nn.Module, args: tuple, kwargs: dict, out: Any) -> None:
        state = out[0] if isinstance(out, tuple | list) and out else out
        if tower in noted.states and isinstance(state, Tensor) and state.ndim == 3:
            noted.states[tower].append(state)

    def note_stack(tower: str | None, _: nn.Module, args: tuple, kwargs: dict, out: Any) -> None:
        noted.stacks[tower] = out

    def note_body(_: nn.Module, args: tuple, kwargs: dict, out: Any) -> None:
        noted.body = out

    blocks = [*blocks_of(network, modules)]
    first = {tower: (path, block) for tower, path, block in reversed(blocks)}
    stacks = {
        tower: path.rpartition(".")[0].rpartition(".")[0] for tower, (path, _) in first.items()
    }
    before = [(block, partial(enters, tower)) for tower, (_, block) in first.items()]
    after = [(block, partial(leaves, tower)) for tower, _, block in blocks]
    after += [(network.get_submodule(p), partial(note_stack, t)) for t, p in stacks.items()]
    with hooked(before, [*after, (network.base_model, note_body)]):
        yield noted


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

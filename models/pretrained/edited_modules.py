"""The modules of transformers networks that edits of what is not attention act on.

No family is looked up. The feed-forward network of a block is the part beside its attention that
has matrices and returns one row for each token, which is not yet what the block returns: its
residual connection is outside of it. What it adds to the stream may pass a norm on the way.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from torch import nn

from models.attention import Edit
from models.attention.edit_protocols import MlpEdit, Sited, StateEdit
from models.edits.routing import MLP, STATES, acts_on, address_of
from models.inputs.sequences import ModelInputs
from models.pretrained.attention_modules import AttentionModules, ancestors, block_of
from models.pretrained.observation import ModuleCall, observe, short
from models.pretrained.recording import ModuleEdit
from models.where import Where, matching

if TYPE_CHECKING:
    from models.model import Model


def resolved(model: "Model", inputs: ModelInputs, edits: Sequence[Edit]) -> tuple[Any, ...]:
    """The edits of a pass, those of what is not attention with the module they act on.

    Raises:
        ValueError: for one that acts on nothing in this network.
    """
    modules = _Modules(model, inputs)
    return tuple(each for edit in edits for each in modules.edits_of(edit))


@dataclass(frozen=True, eq=False)
class _Modules:
    """The blocks of a network, and what one pass of them shows."""

    model: "Model"
    inputs: ModelInputs

    def edits_of(self, edit: Any) -> Iterator[Any]:
        """An edit of attention as it is; any other one for each module that it acts on."""
        if acts_on(edit) == STATES:
            yield self._state(edit)
        elif acts_on(edit) == MLP:
            yield from self._mlps(edit)
        else:
            yield edit

    @cached_property
    def modules(self) -> AttentionModules:
        return AttentionModules.find_in(self.model.network)

    @cached_property
    def blocks(self) -> list[Where]:
        """Blocks by layer, tower and path, in order; those without attention are among them."""
        every = dict(self.model.network.named_modules())
        blocks = set[Where]()
        for place in self.modules.modules.values():
            block = block_of(every, place.path)
            if block is None:
                continue
            blocks.add(Where(place.layer, tower=place.tower, module=block))
            stack, _, number = block.rpartition(".")
            beside = every[stack].named_children() if number == str(place.layer) else ()
            for name in (name for name, _ in beside if name.isdigit()):
                blocks.add(Where(int(name), tower=place.tower, module=f"{stack}.{name}"))
        order = {path: number for number, path in enumerate(every)}
        return sorted(blocks, key=lambda each: (each.layer or 0, order[str(each.module)]))

    def chosen(self, edit: Any) -> list[Where]:
        """The blocks that an edit includes; of a block that runs repeatedly, the layer is told."""
        where = address_of(edit)
        inside = [b for b in self.blocks if f"{where.module}".startswith(f"{b.module}.")]
        if inside:
            return [replace(block, module=where.module) for block in inside]
        alone = [block for block in self.blocks if block.tower in (where.tower, None)]
        if len(alone) == 1 and where.layer is not None:
            return [replace(alone[0], layer=where.layer)]
        try:
            return [self.blocks[index] for index in matching(self.blocks, where)]
        except ValueError as error:
            raise ValueError(f"{edit}: {error}") from error

    # --- hidden states ---

    def _state(self, edit: Any) -> ModuleEdit:
        where = address_of(edit)
        layer = where.layer or 0
        stack = [place for place in self.blocks if place.tower == where.tower or not where.tower]
        source = getattr(edit, "source", None)
        states = None if source is None else source.hidden_states[where.tower].states
        count = len(stack) if states is None else len(states) - 1
        if not stack or (len(stack) > 1 and len({place.layer for place in stack}) != count):
            raise ValueError(
                f"{edit}: expected hidden states that leave {len(stack)} blocks one by one,"
                f" received {count}"
            )
        number = max(layer - 1, 0)
        place = stack[number] if len(stack) > 1 else stack[0]
        bound = edit.bound(Where(layer, tower=where.tower)) if isinstance(edit, Sited) else edit
        if not isinstance(bound, StateEdit):
            raise ValueError(f"{edit}: expected an edit of hidden states")
        path, change = str(place.module), bound.edit_state
        return ModuleEdit(edit, path, change, path, number, reads=layer == 0)

    # --- feed-forward networks ---

    def _mlps(self, edit: Any) -> Iterator[ModuleEdit]:
        if not isinstance(edit, MlpEdit):
            raise ValueError(f"{edit}: expected an edit of a feed-forward network")
        for place in self.chosen(edit):
            path = str(place.module)
            blocks = {each.module for each in self.blocks}
            block = next((up for up in (path, *ancestors(path)) if up in blocks), path)
            mlp = path if path != block else self.feed_forward(edit, block)
            added = self._added(mlp, block)
            yield ModuleEdit(edit, added, edit.edit_mlp, block, place.layer)

    def feed_forward(self, edit: Any, block: str) -> str:
        """The path of a block's feed-forward network."""
        layers = [*self._written(self.model.network.get_submodule(block), block, block)]
        if len(layers) != 1:
            named = ", ".join(layers) or "none"
            raise ValueError(
                f"{edit}: {block}: expected one feed-forward network that is added to the stream,"
                f" found {named}" + ("; module= chooses one" if layers else "")
            )
        return layers[0]

    def _added(self, mlp: str, block: str) -> str:
        """The path of the part that returns what a feed-forward network adds: itself, or a norm or
        scale that reads what it returns.
        """
        end, last = (self.calls.get(path) for path in (block, mlp))
        if end is None or last is None:
            return mlp
        for path, call in self.calls.items():
            beside = path.startswith(f"{block}.") and not path.startswith(f"{mlp}.")
            if beside and _follows(call, last) and not call.output.equal(end.output):
                return self._added(path, block)
        return mlp

    def _written(self, module: nn.Module, path: str, block: str) -> Iterator[str]:
        """The parts whose output, not yet added to anything, is as wide as the block's."""
        end = self.calls[block].output if block in self.calls else None
        if end is None:
            return
        for name, child in module.named_children():
            each = f"{path}.{name}"
            call = self.calls.get(each)
            if any(f"{m.path}.".startswith(f"{each}.") for m in self.modules.modules.values()):
                if call is None:
                    yield from self._written(child, each, block)
            elif call is None or call.output.equal(end):
                yield from self._written(child, each, block)
            elif call.output.shape == end.shape and any(x.ndim > 1 for x in child.parameters()):
                yield each

    @cached_property
    def calls(self) -> Mapping[str, ModuleCall]:
        """The last call of every module, in a pass over the first tokens."""
        return {
            call.path: call for call in observe(self.model, short(self.inputs), every=True).calls
        }


def _follows(call: ModuleCall, other: ModuleCall) -> bool:
    """Whether a module reads what another returns, and makes something else of it."""
    reads = call.given.shape == other.output.shape and call.given.equal(other.output)
    return reads and call.output.shape == call.given.shape and not call.output.equal(call.given)

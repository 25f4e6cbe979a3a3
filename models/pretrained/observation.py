"""What the modules of a transformers network read and return in one traced pass."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from models.attention import Edit
from models.inputs.sequences import ModelInputs
from models.pretrained.attention_modules import AttentionModules, blocks_of
from models.pretrained.interface import current_recording
from models.pretrained.passes import record_pass
from models.pretrained.recording import ModuleEdit, Recording
from models.structure import hooked

if TYPE_CHECKING:
    from models.model import Model

PROBE_TOKENS = 16
# Arguments that hold one number for each token of a text, and can be cut short together.
PER_TOKEN = frozenset(
    {"input_ids", "attention_mask", "token_type_ids", "decoder_input_ids", "decoder_attention_mask"}
)


@dataclass(frozen=True, eq=False)
class ModuleCall:
    """One call of a module.

    Attributes:
        path: of the module.
        module: itself.
        given: its first tensor.
        output: the tensor it returned.
        before: number of attention calls that came before it.
    """

    path: str
    module: nn.Module
    given: Tensor
    output: Tensor
    before: int


class Observed(NamedTuple):
    """What one pass showed.

    Attributes:
        record: of its attention.
        calls: of modules without parts, or of every module, in the order in which they returned.
        blocks: calls of the blocks of each tower.
        out: what the network returned.
    """

    record: Recording
    calls: list[ModuleCall]
    blocks: dict[str | None, list[ModuleCall]]
    out: Any


def short(inputs: ModelInputs) -> ModelInputs:
    """The first tokens of a text; any other input as it is.

    Of a batch, those of the item with the most tokens of its own.
    """
    given = inputs.arguments
    ids = given.get("input_ids")
    flat = all(isinstance(x, Tensor) and x.ndim == 2 for x in given.values())
    if ids is None or not flat or not PER_TOKEN.issuperset(given):
        return replace(inputs, arguments=dict(given))
    mask = given.get("attention_mask", torch.ones_like(ids))
    item = int(mask.sum(1).argmax())
    places = mask[item].nonzero().flatten()[:PROBE_TOKENS]
    first = torch.arange(PROBE_TOKENS)
    cut = {
        name: value[item : item + 1, first[: value.shape[1]] if "decoder" in name else places]
        for name, value in given.items()
        if name != "attention_mask"
    }
    return ModelInputs(cut)


def observe(
    model: "Model",
    inputs: ModelInputs,
    edits: Sequence[Edit | ModuleEdit] = (),
    rows: Callable[[Tensor], Tensor | None] = lambda x: x,
    *,
    every: bool = False,
) -> Observed:
    """One traced pass. A module whose output is edited counts as one without parts.

    Args:
        model: of the library.
        inputs: as prepared.
        edits: interventions.
        rows: the rows that are kept of a tensor; None for one that is not kept.
        every: whether calls of every module are noted, not only of those without parts.
    """
    network, modules = model.network, AttentionModules.find_in(model.network)
    edited = {edit.path for edit in edits if isinstance(edit, ModuleEdit)}
    seen: list[ModuleCall] = []
    by_tower: dict[str | None, list[ModuleCall]] = {}
    noted = [
        (path, module, seen)
        for path, module in network.named_modules()
        if every or path in edited or not len([*module.children()])
    ]
    for tower, path, block in blocks_of(network, modules):
        noted.append((path, block, by_tower.setdefault(tower, [])))

    def note(
        path: str, calls: list, module: nn.Module, args: tuple, kwargs: dict, output: Any
    ) -> None:
        output = output[0] if isinstance(output, tuple | list) and output else output
        given = next((x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)), None)
        record = current_recording()
        if isinstance(given, Tensor) and isinstance(output, Tensor) and record is not None:
            given, output = rows(given), rows(output)
            if given is not None and output is not None:
                before = len(record.calls)
                calls.append(ModuleCall(path, module, given.clone(), output.clone(), before))

    hooks = [(module, partial(note, path, calls)) for path, module, calls in noted]
    with torch.no_grad(), hooked(after=hooks):
        record, _, out = record_pass(model, inputs, edits)
    return Observed(record, seen, by_tower, out)

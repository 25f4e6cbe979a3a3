"""What the innermost modules of a transformers network read and return in one traced pass."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from models.attention import Edit
from models.hooks import hooked
from models.inputs.sequences import ModelInputs
from models.pretrained.block_outputs import blocks_of
from models.pretrained.interface import recording
from models.pretrained.module_edits import ModuleEdit
from models.pretrained.passes import new_recording, run_network
from models.pretrained.recording import Recording

if TYPE_CHECKING:
    from models.model import Model

PROBE_TOKENS = 16
# Arguments that hold one number for each token of a text, and can be cut short together.
PER_TOKEN = frozenset(
    {"input_ids", "attention_mask", "token_type_ids", "decoder_input_ids", "decoder_attention_mask"}
)

WEIGHTS = "parametrizations"  # where torch.nn.utils.parametrize keeps what makes a weight

# The rows to keep of what a module reads or returns; None for a tensor without such rows.
Rows = Callable[[Tensor], Tensor | None] | None


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
    cut = {
        name: value[item : item + 1, :PROBE_TOKENS]
        if name.startswith("decoder")
        else value[item : item + 1, places]
        for name, value in given.items()
        if name != "attention_mask"
    }
    return ModelInputs(cut)


def observe(
    model: "Model",
    inputs: ModelInputs,
    edits: Sequence[Edit | ModuleEdit] = (),
    rows: Rows = None,
    blocks: list[ModuleCall] | None = None,
    only: dict[str, nn.Module] | None = None,
) -> tuple[Recording, list[ModuleCall], Any]:
    """One traced pass, the calls of modules without parts in order, and what the network returned.

    A module whose output is edited counts as one without parts.

    Args:
        model: of the library.
        inputs: as prepared.
        edits: interventions.
        rows: which rows are kept; None keeps all.
        blocks: receives the calls of the blocks, in order.
        only: the modules whose calls are noted, by path; None for those without parts.
    """
    record, calls = new_recording(model, inputs, edits), []
    edited = {edit.path for edit in edits if isinstance(edit, ModuleEdit)}
    inner = only or {
        path: module
        for path, module in model.network.named_modules()
        if path in edited or _is_without_parts(path, module)
    }
    lists: list[tuple[dict[str, nn.Module], list[ModuleCall]]] = [(inner, calls)]
    if blocks is not None:
        outer = {path: block for _, path, block in blocks_of(model.network, record.modules)}
        lists.append((outer, blocks))
    noted = [
        (module, partial(_noting, path, calls, record, rows))
        for modules, calls in lists
        for path, module in modules.items()
    ]
    with recording(model.network, record), torch.no_grad(), hooked(after=noted):
        out = run_network(model, inputs)
    return record, calls, out


def _is_without_parts(path: str, module: nn.Module) -> bool:
    """Whether a module has no parts but those that make its weights (weight norm, for example)."""
    parts = [name for name, _ in module.named_children() if name != WEIGHTS]
    return not parts and WEIGHTS not in path.split(".")


def _noting(
    path: str,
    calls: list[ModuleCall],
    record: Recording,
    rows: Rows,
    module: nn.Module,
    args: tuple,
    kwargs: dict[str, Any],
    output: Any,
) -> None:
    """Notes a call of a module, with the rows that are kept."""
    output = output[0] if isinstance(output, tuple | list) and output else output
    given = next((x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)), None)
    if not isinstance(given, Tensor) or not isinstance(output, Tensor):
        return
    before = len(record.calls)
    kept = [x if rows is None else rows(x) for x in (given, output)]
    if kept[0] is not None and kept[1] is not None:
        calls.append(ModuleCall(path, module, kept[0].clone(), kept[1].clone(), before))

"""Which parts of a transformers network mix tokens by other means than traced attention.

State spaces, convolutions, recurrences: no list of them is kept. In one pass with all attention
ablated, what a block returns for a token is differentiated by what it read: a gradient at any other
token is mixing.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from models.edits import Ablate
from models.hooks import hooked
from models.inputs.pretrained import ModelInputs
from models.pretrained.block_outputs import blocks_of
from models.pretrained.interface import recording
from models.pretrained.passes import new_recording, run_network

if TYPE_CHECKING:
    from models.model import Model

Tower = str | None


@dataclass(frozen=True, eq=False)
class _Step:
    """One call of a block or of a part of one: a row for each token in, and out."""

    tower: Tower
    path: str
    block: str
    given: Tensor
    output: Tensor


@torch.enable_grad()
def mixing_parts(model: "Model", inputs: ModelInputs) -> dict[Tower, tuple[str, ...]]:
    """The parts of the blocks that mix tokens without traced attention, by tower.

    Args:
        model: of the library.
        inputs: a few tokens.

    Returns:
        Paths of modules; of a block itself, where none of its parts does it alone.
    """
    record = new_recording(model, inputs, [Ablate(None, None)])
    steps: list[_Step] = []
    noted = _noted(model.network, record.modules, steps)
    with recording(model.network, record), noted:
        run_network(model, inputs)
    paths: dict[Tower, list[str]] = {}
    for step in steps:
        if step.path == step.block and _mixes(step):
            parts = [each for each in steps if each.block == step.block != each.path]
            names = [each.path for each in parts if _mixes(each)] or [step.path]
            paths.setdefault(step.tower, []).extend(names)
    return {tower: tuple(dict.fromkeys(names)) for tower, names in paths.items()}


def _mixes(step: _Step) -> bool:
    """Whether what is made for a token in the middle depends on any other token."""
    place = step.output.shape[1] // 2
    (gradient,) = torch.autograd.grad(
        step.output[0, place].sum(), step.given, retain_graph=True, allow_unused=True
    )
    if gradient is None:
        return False
    others = torch.arange(gradient.shape[1], device=gradient.device) != place
    return bool(gradient[0, others].any())


def _noted(network: nn.Module, modules: Any, steps: list[_Step]) -> AbstractContextManager[None]:
    """Inside, calls of blocks and of their parts are noted, in passes of this thread.

    What the first block of a tower reads begins the graph: weights need no gradient.
    """
    begun = set[Tower]()

    def begin(
        tower: Tower, _: nn.Module, args: tuple, kwargs: dict[str, Any]
    ) -> tuple[tuple, dict] | None:
        if tower in begun:
            return None
        begun.add(tower)
        swapped = {
            id(x): x.detach().requires_grad_() for x in [_states(args, kwargs)] if x is not None
        }
        return (
            tuple(swapped.get(id(x), x) for x in args),
            {name: swapped.get(id(x), x) for name, x in kwargs.items()},
        )

    def note(
        tower: Tower, path: str, block: str, _: Any, args: tuple, kwargs: dict[str, Any], out: Any
    ) -> None:
        given = _states(args, kwargs)
        output = out[0] if isinstance(out, tuple | list) and out else out
        if given is None or not isinstance(output, Tensor):
            return
        rows = output.ndim == given.ndim == 3 and output.shape[:2] == given.shape[:2]
        if rows and given.requires_grad and output.requires_grad:
            steps.append(_Step(tower, path, block, given, output))

    blocks = [*blocks_of(network, modules)]
    parts = [
        (part, partial(note, tower, f"{path}.{name}".removesuffix("."), path))
        for tower, path, block in blocks
        for name, part in [("", block), *block.named_children()]
    ]
    return hooked([(block, partial(begin, tower)) for tower, _, block in blocks], parts)


def _states(args: tuple, kwargs: dict[str, Any]) -> Tensor | None:
    """The states that a module reads: its first tensor of numbers."""
    given = (x for x in (*args, *kwargs.values()) if isinstance(x, Tensor))
    return next((x for x in given if x.is_floating_point() and x.ndim == 3), None)

"""Forward passes of transformers models, recorded or not."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from torch import Tensor, nn

from models.attention import Edit
from models.attnlrp import Rules, secant
from models.inputs.named import forward_arguments, refusing_shapes
from models.inputs.sequences import ModelInputs
from models.pretrained.hidden import BlockStates, block_states
from models.pretrained.interface import recording
from models.pretrained.recording import ModuleEdit, Recording, check_changed
from models.progress import Progress, no_progress
from models.structure import check_eval, hooked

if TYPE_CHECKING:
    from models.model import Model


FILES = ("transformers.activations", "torch.nn.modules.activation")
NOT_ELEMENTWISE = (nn.MultiheadAttention, nn.Softmax, nn.LogSoftmax, nn.GLU)


def record_pass(
    model: "Model",
    inputs: ModelInputs,
    edits: Sequence[Edit | ModuleEdit] = (),
    *,
    hidden: bool = False,
    rules: Rules = "exact",
    progress: Progress = no_progress,
) -> tuple[Recording, BlockStates, Any]:
    """One forward pass: what was recorded, with `hidden` also between blocks, and the output."""
    record = Recording.of(model, inputs, edits, progress)
    noted = block_states(model.network, record.modules) if hidden else nullcontext(BlockStates())
    under = activation_rules(model.network, rules)
    with recording(model.network, record), noted as states, under:
        out = run_network(model, inputs)
    record.report()
    check_changed(record)
    return record, states, out


def run_network(model: "Model", inputs: ModelInputs) -> Any:
    """The forward pass in eval mode.

    Raises:
        ValueError: for inputs whose shapes the network does not take.
    """
    with refusing_shapes(model, inputs.arguments):
        out = model.network(**{**forward_options(model.network), **inputs.arguments})
    check_eval(model.network)
    return out


def forward_options(network: Any) -> dict[str, bool]:
    """Named output and no key-value cache, as far as the network takes these options."""
    takes = forward_arguments(network)
    hands_on = any(each.kind is each.VAR_KEYWORD for each in takes.values())
    options = {"return_dict": True} if hands_on or "return_dict" in takes else {}
    caches = getattr(network.config.get_text_config(decoder=True), "use_cache", None) is not None
    if caches and (hands_on or "use_cache" in takes):
        options["use_cache"] = False
    return options


def activation_rules(network: nn.Module, rules: Rules) -> AbstractContextManager[None]:
    """Inside, activations follow the rules, in passes of this thread.

    The mode of `models.attnlrp` sees functions: GELU's approximation by tanh, written out, is to it
    a product with a constant in it. Here the library's activation modules get the gradient of one
    elementwise function.
    """
    if rules != "attnlrp":
        return nullcontext()
    return hooked(
        after=[
            (module, _elementwise)
            for module in network.modules()
            if type(module).__module__ in FILES and not isinstance(module, NOT_ELEMENTWISE)
        ]
    )


def _elementwise(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    known = args and isinstance(args[0], Tensor) and args[0].shape == out.shape
    return secant(args[0], out) if known else None

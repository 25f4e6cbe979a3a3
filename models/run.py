"""The two entry points: `load` a model, `trace` an input through it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from models.attention import Edit, Pattern
from models.attention.given import GivenWeights
from models.attnlrp import Rules, gradient_rules
from models.blocks import StackOutput
from models.decoder import Decoder
from models.edits import as_edits, of_input, of_network
from models.files.errors import CheckpointError
from models.inputs.pictures import edit_pixels
from models.inputs.prepare import Input, Target, prepare_inputs
from models.inputs.prompt import Prompt
from models.inputs.sequences import ModelInputs
from models.layer import AttentionLayer
from models.loading.load import as_model, devices, load
from models.model import Model, Network
from models.own_origin import OwnOrigin, towers
from models.progress import Progress, no_progress
from models.smallest import Smallest
from models.ssru import Translator
from models.structure import check_eval
from models.trace import (
    HiddenStates,
    Output,
    Site,
    TokenAxis,
    Trace,
    grid_fields,
)

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = [
    "CheckpointError",
    "Model",
    "Trace",
    "as_model",
    "devices",
    "load",
    "trace",
]


def trace(
    model: Model | Network | nn.Module,
    input: "Input | Image | Prompt | Mapping[str, Any]",
    target: Target = None,
    *,
    edits: Edit | Sequence[Edit] = (),
    hidden: bool = False,
    gradient: Callable[[Output], Tensor] | None = None,
    rules: Rules = "exact",
    logits_to_keep: int | None = None,
    progress: Progress = no_progress,
) -> Trace:
    """Runs the model once and records a `Trace`.

    Args:
        model: from `load`, or a network of ours or of transformers. One in training mode stays in
            it: a copy that shares its weights is traced.
        input: for text a text, a pair of texts (a tuple), a list of either, or ids `batch token`;
            for a ViT an image (PIL or path), fitted to its size, or normalised pixels
            `batch channel row col` of any size its patches divide; for a transformers model of
            sound a WAV file (its path), or samples at the model's own rate; a `Prompt` of text with
            pictures, which the model's chat template and processor write; for an encoder of vectors
            floats, `token dim` or `batch token dim`; or a mapping of the model's own inputs (a
            dict, or what a tokenizer or processor of transformers returns).
        target: of an encoder–decoder alone, what its decoder is to write: a text or texts (the
            end symbol is put behind them), or ids. The decoder reads the begin symbol and all of
            it but the last token, so that each row tells the token after it. None: what the model
            writes itself, without the edits, at most a little longer than the source. Of a decoder
            that is given a `Prompt`, the answer, likewise.
        edits: an intervention, or several in order.
        hidden: whether to record the hidden states of every layer.
        gradient: maps the output to the scalar whose gradient is recorded: with respect to every
            pattern's values and, with `hidden`, the hidden states.
        rules: of the gradient: "exact", or "attnlrp", by which a gradient times its activation is a
            relevance (see `models.attnlrp`).
        logits_to_keep: how many tokens get logits, counted from the last, where the network is a
            decoder that can leave others out: all logits of a long text take tokens × vocabulary
            numbers. None means all.
        progress: called before each layer and after the last with how many are done and how many
            there are; an exception of it ends the pass.

    Raises:
        ValueError: for empty input, input over the model's limit, ids that are not in its
            vocabulary, text for a model without a tokenizer, or an image that cannot be read.
    """
    model = as_model(model)
    edits = as_edits(edits)
    inputs = prepare_inputs(model, input, target)
    edit_pixels(model, inputs, of_input(edits))
    if gradient is not None:
        _check_differentiable(model.network)
    one_pass: Any = _own_pass
    if model.door == "transformers":
        from models.pretrained.run import traced_pass as one_pass
    with torch.set_grad_enabled(gradient is not None), gradient_rules(rules):
        passed: Trace = one_pass(
            model,
            inputs,
            of_network(edits),
            hidden=hidden,
            rules=rules,
            logits_to_keep=logits_to_keep,
            progress=progress,
        )
    patterns, gradients = passed.patterns, None
    if gradient is not None:
        patterns, gradients = _differentiated(passed, gradient, rules)
    hidden_states = {t: each.detached(gradients) for t, each in passed.hidden_states.items()}
    return replace(
        passed,
        output=replace(passed.output, values=passed.output.values.detach()),
        patterns=patterns,
        target_tokens=inputs.target_tokens,
        hidden_states=hidden_states,
        answer=inputs.answer,
        edits=tuple(edits),
        preprocessing=model.preprocessing,
    )


def _own_pass(
    model: Model,
    inputs: ModelInputs,
    edits: Sequence[Edit],
    *,
    hidden: bool,
    logits_to_keep: int | None,
    progress: Progress,
    **_: Any,
) -> Trace:
    """Runs one of our networks, and keeps the graph; arguments as for `trace`."""
    network, tokens, target = model.network, inputs.main.tokens, inputs.target_tokens
    more = _fewer_logits(network, logits_to_keep)
    if not isinstance(network, AttentionLayer | Smallest):
        more["progress"] = progress
    out: StackOutput = network(**inputs.arguments, **more, edits=edits)
    check_eval(network)
    hidden_states = {}
    for tower, part in towers(network, out).items() if hidden else ():
        axis = TokenAxis(tokens if tower != "decoder" else target or ())
        hidden_states[tower] = HiddenStates(part.states, (axis,) * len(part.states), part.hidden)
    return Trace(
        model.name,
        model.trained,
        tokens,
        tuple(map(Site.of, out.sites or network.sites, out.patterns)),
        _output(out, inputs),
        out.patterns,
        notes=inputs.notes,
        hidden_states=hidden_states,
        origin=OwnOrigin(network, inputs.arguments, tuple(edits)),
        aligning=network.aligning if isinstance(network, Translator) and model.trained else (),
        **grid_fields(inputs.main.grid),
    )


def _fewer_logits(network: Network, logits_to_keep: int | None) -> dict[str, Any]:
    """The argument that leaves logits out; none for networks without one."""
    if logits_to_keep is None or not isinstance(network, Decoder):
        return {}
    if logits_to_keep < 1:
        raise ValueError(f"logits_to_keep: expected 1 or more, received {logits_to_keep}")
    return {"logits_to_keep": logits_to_keep}


def _output(out: StackOutput, inputs: ModelInputs) -> Output:
    """The output, and which tokens it is of."""
    name, values = out.result
    if values.ndim != 3:
        return Output(name, values)
    axis = TokenAxis(inputs.target_tokens or inputs.main.tokens)
    length = out.states[-1].shape[1]
    padded = axis.padding(length) is not None
    positions = tuple(map(axis.positions_of, range(len(axis.tokens)))) if padded else None
    return Output(name, values, length - values.shape[1], positions)


def _check_differentiable(network: nn.Module) -> None:
    """Raises ValueError for quantised weights, whose linear maps pass no gradient on."""
    for name, parameter in network.named_parameters():
        if not parameter.is_floating_point():
            raise ValueError(
                f"{name} ({parameter.dtype}) passes no gradient, as quantised weights do not: load"
                " the model's unquantised weights"
            )


def _differentiated(
    passed: Trace, gradient: Callable[[Output], Tensor], rules: Rules
) -> tuple[tuple[Pattern, ...], dict[int, Tensor]]:
    """The patterns with the gradients of their values, detached, and those of the hidden states by
    their ids.

    What the number does not depend on has a gradient of 0.
    """
    if any(isinstance(pattern, GivenWeights) for pattern in passed.patterns):
        raise ValueError(f"gradient: {passed.model} computes its own weights, which have none here")
    with torch.enable_grad(), gradient_rules(rules):
        number = gradient(passed.output)
    if number.numel() != 1:
        raise ValueError(f"gradient: expected one number, received {tuple(number.shape)}")
    values = [pattern.values for pattern in passed.patterns if pattern.values is not None]
    if len(values) < len(passed.patterns) or not number.requires_grad:
        raise ValueError(
            "gradient: expected a number that depends on the output, and weights that are not"
            " frozen (requires_grad) up to the first attention"
        )
    ended = [x for each in passed.hidden_states.values() for x in each.ended]
    flat = [x for x in ended if x is not None and x.requires_grad]
    gradients = torch.autograd.grad(
        number, [*values, *flat], allow_unused=True, materialize_grads=True
    )
    pairs = zip(passed.patterns, gradients, strict=False)
    by_state = dict(zip(map(id, flat), gradients[len(values) :], strict=True))
    return tuple(pattern.detached(each) for pattern, each in pairs), by_state

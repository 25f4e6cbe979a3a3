"""The two calls that everything starts with: `load` a model, `trace` an input through it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from models.attention import Edit, Pattern
from models.catalogue import CheckpointError, catalogue
from models.inputs import Input, inputs_of
from models.loading import Model, Network, as_model, devices, load
from models.named import named_inputs
from models.trace import Output, Site, Trace

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["CheckpointError", "Model", "Trace", "catalogue", "devices", "load", "trace"]


def trace(
    model: Model | Network | nn.Module,
    input: "Input | Image | dict[str, Any]",
    target: Any = None,
    *,
    edits: Sequence[Edit] = (),
    hidden: bool = False,
    gradient: Callable[[Output], Tensor] | None = None,
) -> Trace:
    """Runs the model once and keeps what every view is made from.

    Args:
        model: from `load`, or a network of ours.
        input: for an encoder a text, a pair of texts (a tuple), a list of either, or ids
            `batch token`; for a ViT an image (PIL or path), fitted to its size, or normalised
            pixels `batch channel row col` of any size its patches divide.
        target: the decoder's side; encoders have none.
        edits: what to change on the way.
        hidden: whether to keep the hidden states of every layer.
        gradient: gives the number whose gradient by the weights is wanted, from the output.

    Raises:
        ValueError: for empty input, input over the model's limit, ids that are not in its
            vocabulary, text for a model without a tokenizer, or an image that cannot be read.
    """
    model = as_model(model)
    if model.door == "transformers":
        from models.door.run import traced

        ask = None if gradient is None else partial(_differentiate, gradient=gradient)
        return traced(model, input, target, edits=edits, hidden=hidden, differentiate=ask)
    if target is not None:
        raise ValueError(f"{model.name} is an encoder: it has no decoder to give a target to")
    named = isinstance(input, dict)
    inputs = named_inputs(model, input) if named else inputs_of(model, input)
    with _without_dropout(model.network), torch.set_grad_enabled(gradient is not None):
        out = model.network(**inputs.arguments, edits=edits)
    output = Output(*out.result)
    patterns = out.patterns
    if gradient is not None:
        patterns = _differentiate(patterns, output, gradient)
    return Trace(
        model=model.name,
        trained=model.trained,
        tokens=inputs.tokens,
        sites=tuple(
            Site(layer, "self", pattern.heads, pattern.queries, pattern.keys)
            for layer, pattern in enumerate(patterns)
        ),
        output=Output(output.name, output.values.detach()),
        patterns=patterns,
        states=tuple(state.detach() for state in out.states) if hidden else None,
        grid=inputs.grid,
        prefix=inputs.prefix,
        notes=inputs.notes,
    )


@contextmanager
def _without_dropout(network: Network) -> Iterator[None]:
    """Eval mode for one pass: a network that is being trained goes on in training mode."""
    training = [part for part in network.modules() if part.training]
    network.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


def _differentiate(
    patterns: tuple[Pattern, ...], output: Output, gradient: Callable[[Output], Tensor]
) -> tuple[Pattern, ...]:
    """The patterns, each with the gradient of its values, and free of the graph."""
    with torch.enable_grad():
        number = gradient(output)
    if number.numel() != 1:
        raise ValueError(f"gradient: expected one number, received {tuple(number.shape)}")
    values = [pattern.values for pattern in patterns if pattern.values is not None]
    if len(values) < len(patterns) or not number.requires_grad:
        raise ValueError(
            "gradient: expected a number that depends on the output, and weights that are not"
            " frozen (requires_grad) up to the first attention"
        )
    gradients = torch.autograd.grad(number, values)
    return tuple(
        pattern.detached(found) for pattern, found in zip(patterns, gradients, strict=True)
    )

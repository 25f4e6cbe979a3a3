"""The two calls that everything starts with: `load` a model, `trace` an input through it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from jaxtyping import Int
from torch import Tensor

from models.attention import Edit, Pattern
from models.catalogue import CheckpointError, catalogue
from models.encoder import Encoder, EncoderOutput
from models.loading import Model, as_model, devices, load
from models.text import Tokens
from models.trace import Output, Site, Trace, padding_of

__all__ = ["CheckpointError", "Model", "Trace", "catalogue", "devices", "load", "trace"]

Text = str | tuple[str, str]
Input = Text | list[str] | list[Text] | Int[Tensor, "batch token"]


def trace(
    model: Model | Encoder,
    input: Input,
    target: None = None,
    *,
    edits: Sequence[Edit] = (),
    hidden: bool = False,
    gradient: Callable[[Output], Tensor] | None = None,
) -> Trace:
    """Runs the model once and keeps what every view is made from.

    Args:
        model: from `load`, or a network of ours.
        input: a text, a pair of texts (a tuple), a list of either, or ids `batch token`.
        target: the decoder's side; an encoder has none.
        edits: what to change on the way.
        hidden: whether to keep the hidden states of every layer.
        gradient: gives the number whose gradient by the weights is wanted, from the output.

    Raises:
        ValueError: for empty input, input over the model's limit, ids that are not in its
            vocabulary, or text for a model without a tokenizer.
    """
    model = as_model(model)
    if target is not None:
        raise ValueError(f"{model.name} is an encoder: it has no decoder to give a target to")
    tokens = _tokens(model, input)
    ids, padding, segments = _batch(tokens, model.device)
    with _without_dropout(model.network), torch.set_grad_enabled(gradient is not None):
        out = model.network(ids, padding=padding, segments=segments, edits=edits)
    output = Output("hidden states", out.hidden)
    patterns = out.patterns if gradient is None else _differentiate(out, output, gradient)
    return Trace(
        model=model.name,
        trained=model.trained,
        tokens=tokens,
        sites=tuple(
            Site(layer, "self", pattern.heads, pattern.queries, pattern.keys)
            for layer, pattern in enumerate(patterns)
        ),
        output=Output(output.name, output.values.detach()),
        patterns=patterns,
        states=tuple(state.detach() for state in out.states) if hidden else None,
    )


@contextmanager
def _without_dropout(network: Encoder) -> Iterator[None]:
    """Eval mode for one pass: a network that is being trained goes on in training mode."""
    training = [part for part in network.modules() if part.training]
    network.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


def _tokens(model: Model, source: Input) -> tuple[Tokens, ...]:
    if isinstance(source, Tensor):
        tokens = tuple(Tokens.of_ids(row) for row in source.tolist())
    else:
        texts = source if isinstance(source, list) else [source]
        if model.tokenizer is None:
            raise ValueError(f"{model.name} has no tokenizer: give it ids, or load(tokenizer=...)")
        read = model.tokenizer.encode
        tokens = tuple(read(t) if isinstance(t, str) else read(*t) for t in texts)
    if not tokens or not all(len(item) for item in tokens):
        raise ValueError("the input is empty: expected at least one token")
    longest = max(len(item) for item in tokens)
    if longest > model.limit:
        raise ValueError(f"{model.name} reads at most {model.limit} tokens, received {longest}")
    vocab = model.network.config.vocab
    worst = max(max(item.ids) for item in tokens), min(min(item.ids) for item in tokens)
    if worst[0] >= vocab or worst[1] < 0:
        raise ValueError(f"ids: expected 0 to {vocab - 1}, received {worst[1]} to {worst[0]}")
    kinds = model.network.config.segments
    segment = max(max(item.segments) for item in tokens)
    if kinds and segment >= kinds:
        raise ValueError(f"{model.name} tells {kinds} texts apart, received {segment + 1}")
    return tokens


def _batch(
    tokens: tuple[Tokens, ...], device: torch.device
) -> tuple[Tensor, Tensor | None, Tensor]:
    """Ids, padding and segments as tensors, filled up to the longest item."""
    longest = max(len(item) for item in tokens)
    ids = torch.zeros(len(tokens), longest, dtype=torch.long)
    segments = torch.zeros_like(ids)
    for row, item in enumerate(tokens):
        ids[row, : len(item)] = torch.tensor(item.ids)
        segments[row, : len(item)] = torch.tensor(item.segments)
    padding = padding_of(tokens)
    return (
        ids.to(device),
        None if padding is None else padding.to(device),
        segments.to(device),
    )


def _differentiate(
    out: EncoderOutput, output: Output, gradient: Callable[[Output], Tensor]
) -> tuple[Pattern, ...]:
    """The patterns, each with the gradient of its values, and free of the graph."""
    with torch.enable_grad():
        number = gradient(output)
    if number.numel() != 1:
        raise ValueError(f"gradient: expected one number, received {tuple(number.shape)}")
    values = [pattern.values for pattern in out.patterns if pattern.values is not None]
    if len(values) < len(out.patterns) or not number.requires_grad:
        raise ValueError(
            "gradient: expected a number that depends on the output, and weights that are not"
            " frozen (requires_grad) up to the first attention"
        )
    gradients = torch.autograd.grad(number, values)
    return tuple(
        pattern.detached(found) for pattern, found in zip(out.patterns, gradients, strict=True)
    )

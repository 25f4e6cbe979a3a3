"""A `Trace` of attention weights that something else computed: no model, no queries, no logits."""

from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from models.attention import Mask
from models.attention.given import GivenWeights, sums_note
from models.text import named_items
from models.trace import Output, Site, TokenAxis, Trace

Layer = Float[Tensor, "batch head query key"]
LAYOUTS = "head query key, layer head query key, or for each layer batch head query key"


def from_weights(weights: Any, tokens: Any = None, *, name: str = "given weights") -> Trace:
    """A trace of weights that somebody already has, for every view and number of weights.

    Args:
        weights: "head query key" or "layer head query key" as an array (NumPy, PyTorch, JAX) or
            nested lists; or a sequence with an array "batch head query key" or "head query key" for
            each layer, such as `outputs.attentions` of transformers (None where a layer has none).
            They are shown as they are; a note says where rows do not sum to 1.
        tokens: a list of strings; for a batch a list of such lists; for cross-attention a tuple of
            two: those of the queries, those of the keys. None numbers them.
        name: what titles call it.

    Raises:
        ValueError: for weights of another shape, negative or not finite, and for another number of
            tokens.
    """
    layers = {place: each for place, each in enumerate(_layers(weights)) if each is not None}
    if not layers:
        raise ValueError(f"weights: expected {LAYOUTS}, received none")
    shapes = {(each.shape[0], *each.shape[2:]) for each in layers.values()}
    if len(shapes) > 1:
        raise ValueError(f"weights: expected layers of one size, received {sorted(shapes)}")
    ((batch, queries, keys),) = shapes
    crossing = isinstance(tokens, tuple) and len(tokens) == 2 and not isinstance(tokens[0], str)
    if queries != keys and not crossing and tokens is not None:
        raise ValueError(
            f"tokens: expected a tuple of two lists, for {queries} queries and {keys} keys"
        )
    rows, columns = tokens if crossing and tokens else (tokens, tokens)
    axes = named_items(rows, [queries] * batch), named_items(columns, [keys] * batch)
    cross = crossing or queries != keys
    causal = not cross and queries > 1 and not any(each.triu(1).any() for each in layers.values())
    mask = Mask(causal=causal)
    patterns = tuple(GivenWeights(each, mask) for each in layers.values())
    kind = "cross" if cross else "causal" if causal else "self"
    sites = tuple(
        Site(layer, kind, pattern.heads, queries, keys)
        for layer, pattern in zip(layers, patterns, strict=True)
    )
    sides = TokenAxis(axes[0]), TokenAxis(axes[1])
    notes = sums_note([each.given for each in patterns])
    output = Output("no output", torch.empty(0))
    of_sites = dict.fromkeys(sites, sides) if cross else {}
    return Trace(name, True, axes[0], sites, output, patterns, axes=of_sites, notes=notes)


def as_trace(t: Any, tokens: Any = None) -> Any:
    """A trace, or a view of one, as it is; weights as a trace of them."""
    if not hasattr(t, "sites"):
        return from_weights(t, tokens)
    if tokens is not None:
        raise ValueError("tokens: expected none, a trace has its own")
    return t


def _layers(weights: Any) -> list[Layer | None]:
    if isinstance(weights, list | tuple) and any(hasattr(each, "ndim") for each in weights):
        return [
            None if each is None else _layer(_array(each), place)
            for place, each in enumerate(weights)
        ]
    if isinstance(weights, list | tuple) and any(isinstance(each, tuple) for each in weights):
        raise ValueError(
            "weights: expected an array for each layer, received tuples, as `generate` returns one"
            " for each step: choose a step"
        )
    whole = _array(weights)
    if whole.ndim == 3:
        return [_layer(whole, 0)]
    if whole.ndim not in (4, 5):
        raise ValueError(f"weights: expected {LAYOUTS}, received {_shape(whole)}")
    return [_layer(each, place) for place, each in enumerate(whole)]


def _layer(array: Tensor, place: int) -> Layer:
    layer = array[None] if array.ndim == 3 else array
    if layer.ndim != 4 or not layer.numel():
        raise ValueError(f"weights of layer {place}: expected {LAYOUTS}, received {_shape(array)}")
    if not bool((layer >= 0).all()) or not bool(layer.isfinite().all()):  # NaN is neither
        raise ValueError(
            f"weights of layer {place}: expected finite numbers of 0 or more, received"
            f" {float(layer.min()):.3g} to {float(layer.max()):.3g}; of scores take the softmax"
        )
    return layer


def _array(given: Any) -> Tensor:
    """A copy in float32."""
    if isinstance(given, Tensor):
        return given.detach().to("cpu", torch.float32, copy=True)
    try:
        return torch.tensor(np.asarray(given, dtype=np.float32))
    except (TypeError, ValueError):
        what = f"{type(given).__name__} that is no array of numbers"
        raise ValueError(f"weights: expected {LAYOUTS}, received {what}") from None


def _shape(array: Tensor) -> str:
    return " × ".join(map(str, array.shape)) or "one number"

"""Reads vectors for an encoder that has no embedding: one vector per token.

A tensor is `token dim` or `batch token dim`. In a mapping the names are those of PyTorch's forward
(`src` or `query`, in the module's own layout, with `mask`, `is_causal` and a padding mask) or of
transformers (`inputs_embeds`, `attention_mask`); `tokens` names the tokens.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from models.inputs.named import as_tensors
from models.model import Model
from models.text import Tokens

VECTORS = {"src": False, "query": False, "inputs_embeds": True}  # whether always batch first
SAME = ("key", "value")
MASKS = ("mask", "src_mask", "attn_mask")
PADDING = ("src_key_padding_mask", "key_padding_mask")
OTHERS = ("attention_mask", "is_causal", "tokens", "need_weights", "average_attn_weights")
NAMES = (*VECTORS, *SAME, *MASKS, *PADDING, *OTHERS)


class Vectors(NamedTuple):
    """One prepared input.

    Attributes:
        arguments: keyword arguments of forward.
        tokens: one entry per item of the batch.
        notes: how the input was read, for display.
    """

    arguments: dict[str, Any]
    tokens: tuple[Tokens, ...]
    notes: tuple[str, ...] = ()


def read_tensor(model: Model, source: Any) -> Vectors:
    """The vectors in a tensor, `token dim` or `batch token dim`.

    Raises:
        ValueError: for anything else, another width, no tokens, or numbers that are not finite.
    """
    vectors = _checked(model, source)
    notes: tuple[str, ...] = ()
    if model.network.config.token_first and isinstance(source, Tensor) and source.ndim == 3:
        items, count, _ = vectors.shape
        notes = (f"vectors: read as batch, token, dim: {items} × {count} tokens",)
    return _named(vectors, None, None, notes)


def read_mapping(model: Model, source: Mapping[str, Any]) -> Vectors:
    """The vectors, masks and names of tokens in a mapping.

    Raises:
        ValueError: as for a tensor; for keys of another sequence, a mask that is not one of query
            and key, and padding that is not at the end.
    """
    names = source.get("tokens")
    given = as_tensors({name: each for name, each in source.items() if name != "tokens"})
    if unknown := sorted({*given} - {*NAMES}):
        raise ValueError(f"{model.name} does not read {', '.join(unknown)}")
    name = _only(given, tuple(VECTORS))
    if name is None:
        raise ValueError(f"{model.name}: expected a dict with {', '.join(VECTORS)}")
    for other in SAME:
        if other in given and given[other] is not source[name] and not _equal(given, other, name):
            raise ValueError(
                f"{other}: expected that of {name}: {model.name} attends from a sequence to itself"
            )
    token_first = model.network.config.token_first and not VECTORS[name]
    vectors = given[name]
    if token_first and isinstance(vectors, Tensor) and vectors.ndim == 3:
        vectors = vectors.transpose(0, 1)
    vectors = _checked(model, vectors)
    causal, visible = _visible(given, vectors)
    whole = _named(vectors, _padding(given, vectors), names, ())
    arguments = {**whole.arguments, "causal": causal, "visible": visible}
    return whole._replace(arguments=arguments)


def _only(given: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The one of some names that is given; None if none is."""
    present = [name for name in names if name in given]
    if len(present) > 1:
        raise ValueError(f"expected one of {', '.join(present)}, received both")
    return present[0] if present else None


def _equal(given: Mapping[str, Any], one: str, other: str) -> bool:
    first, second = given[one], given[other]
    return isinstance(first, Tensor) and isinstance(second, Tensor) and first.equal(second)


def _checked(model: Model, source: Any) -> Float[Tensor, "batch token dim"]:
    """The vectors as a batch, on the network's device and of its dtype."""
    weight, dim = next(model.network.parameters()), model.network.config.dim
    if not isinstance(source, Tensor) or not source.is_floating_point():
        kind = source.dtype if isinstance(source, Tensor) else type(source).__name__
        raise ValueError(
            f"{model.name} reads vectors: expected floats, token dim or batch token dim,"
            f" of width {dim}, received {kind}"
        )
    vectors = source[None] if source.ndim == 2 else source
    if vectors.ndim != 3 or vectors.shape[-1] != dim or not vectors.numel():
        raise ValueError(
            f"{model.name} reads vectors: expected at least one token and width {dim},"
            f" received {tuple(source.shape)}"
        )
    if vectors.shape[1] > model.limit:
        raise ValueError(
            f"{model.name} reads at most {model.limit} tokens, received {vectors.shape[1]}"
        )
    if not bool(vectors.isfinite().all()):
        raise ValueError("vectors: expected finite numbers, received NaN or infinity")
    return vectors.detach().to(device=weight.device, dtype=weight.dtype)


def _named(vectors: Tensor, padding: Tensor | None, names: Any, notes: tuple[str, ...]) -> Vectors:
    """The input, its tokens by their names or positions."""
    items, length, _ = vectors.shape
    counts = [length] * items if padding is None else (~padding).sum(1).tolist()
    labels = [[*map(str, range(count))] for count in counts]
    if names is not None:
        labels = [names] if _texts(names) else names
        fits = isinstance(labels, list | tuple) and all(map(_texts, labels))
        if not fits or [len(item) for item in labels] != counts:
            raise ValueError(
                f"tokens: expected {' and '.join(map(str, counts))} names, a list for each item,"
                f" received {names}"
            )
    tokens = tuple(map(_tokens, labels))
    arguments = {"vectors": vectors, "padding": padding, "causal": False, "visible": None}
    return Vectors(arguments, tokens, notes)


def _tokens(labels: list[str]) -> Tokens:
    """Tokens whose ids are where their names first stand: equal names have one id."""
    first: dict[str, int] = {}
    ids = [first.setdefault(label, place) for place, label in enumerate(labels)]
    return Tokens.of_ids(ids, {}, dict(zip(ids, labels, strict=True)))


def _texts(names: Any) -> bool:
    return isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)


def _padding(given: Mapping[str, Any], vectors: Tensor) -> Bool[Tensor, "batch token"] | None:
    """True at padding, all of it on the right; None without any."""
    name = _only(given, (*PADDING, "attention_mask"))
    if name is None:
        return None
    mask, shape = given[name], vectors.shape[:2]
    if isinstance(mask, Tensor) and mask.ndim == 1:
        mask = mask[None]
    if not isinstance(mask, Tensor) or mask.shape != shape:
        raise ValueError(f"{name}: expected batch token, {tuple(shape)}, received {_shape(mask)}")
    hidden = ~mask.bool() if name == "attention_mask" else _hidden(name, mask)
    return right_padding(name, hidden.to(vectors.device))


def right_padding(
    name: str, hidden: Bool[Tensor, "batch token"]
) -> Bool[Tensor, "batch token"] | None:
    """True at padding, all of it on the right; None without any."""
    counts = (~hidden).sum(1)
    ends = torch.arange(hidden.shape[1], device=hidden.device)[None] >= counts[:, None]
    if not ends.equal(hidden) or int(counts.min()) < 1:
        raise ValueError(f"{name}: expected padding on the right only")
    return hidden if bool(hidden.any()) else None


def _visible(given: Mapping[str, Any], vectors: Tensor) -> tuple[bool, Tensor | None]:
    """Whether the mask is causal, and where a query may attend if it is another one."""
    name, length = _only(given, MASKS), vectors.shape[1]
    causal = bool(given.get("is_causal", False))
    if name is None:
        return causal, None
    mask = given[name]
    if not isinstance(mask, Tensor) or mask.shape != (length, length):
        raise ValueError(f"{name}: expected query key, {(length, length)}, received {_shape(mask)}")
    visible = ~_hidden(name, mask).to(vectors.device)
    triangle = torch.ones_like(visible).tril()
    if visible.equal(triangle):
        return True, None
    if causal:
        raise ValueError(f"is_causal: expected {name} to hide all later keys and no others")
    return False, None if bool(visible.all()) else visible


def _hidden(name: str, mask: Tensor) -> Bool[Tensor, "row col"]:
    """True at hidden keys, of booleans or of what is added to scores: 0 or −∞."""
    if mask.dtype == torch.bool:
        return mask
    hidden = mask == -torch.inf
    if not mask.is_floating_point() or not bool((hidden | (mask == 0)).all()):
        raise ValueError(f"{name}: expected booleans, True at hidden keys, or 0 and −∞")
    return hidden


def _shape(mask: Any) -> str:
    return str(tuple(mask.shape)) if isinstance(mask, Tensor) else type(mask).__name__

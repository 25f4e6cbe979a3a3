"""Reads vectors for an encoder that has no embedding: one vector per token.

A tensor is `token dim` or `batch token dim`. In a mapping the names are those of PyTorch's forward
(`src` or `query`, in the module's own layout, with `mask`, `is_causal` and a padding mask) or of
transformers (`inputs_embeds`, `attention_mask`); `tokens` names the tokens.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from models.inputs.named import as_tensors
from models.inputs.sequences import InputSequence, ModelInputs
from models.text import Tokens

if TYPE_CHECKING:
    from models.model import Model

PLAIN, MASK = "inputs_embeds", "attention_mask"  # of transformers
VECTORS = ("src", "query", PLAIN)
SAME = ("key", "value")  # which may be the queries themselves
MASKS = ("mask", "src_mask", "attn_mask")
PADDING = ("src_key_padding_mask", "key_padding_mask", MASK)


def read_vectors(model: "Model", source: Any) -> ModelInputs:
    """The arguments of forward, and the tokens.

    Raises:
        ValueError: for anything but finite floats of the model's width, a mask that is not one of
            query and key, and padding that is not at the end.
    """
    given = dict(source) if isinstance(source, Mapping) else {PLAIN: source}
    names, query = given.pop("tokens", None), given.get("query")
    given = as_tensors({k: v for k, v in given.items() if k not in SAME or v is not query})
    if unknown := sorted({*given} - {*VECTORS, *MASKS, *PADDING, "is_causal"}):
        raise ValueError(f"{model.name} does not read {', '.join(unknown)}")
    name, vectors = _only(given, VECTORS)
    if name is None:
        raise ValueError(f"{model.name}: expected a dict with {', '.join(VECTORS)}")
    swapped = model.network.config.token_first and getattr(vectors, "ndim", 0) == 3
    vectors = _checked(model, vectors.transpose(0, 1) if swapped and name != PLAIN else vectors)
    items, length, _ = vectors.shape
    padding = _padding(given, vectors)
    arguments = {"vectors": vectors, "padding": padding, **_mask(given, length, vectors.device)}
    counts = [length] * items if padding is None else (~padding).sum(1).tolist()
    read = f"vectors: read as batch, token, dim: {items} × {length} tokens"
    notes = (read,) if swapped and not isinstance(source, Mapping) else ()
    text = InputSequence(_tokens(names, counts), length)
    return ModelInputs(arguments, {"text": text}, notes)


def right_padding(
    name: str, hidden: Bool[Tensor, "batch token"]
) -> Bool[Tensor, "batch token"] | None:
    """True at padding, all of it on the right; None without any."""
    counts = (~hidden).sum(1)
    ends = torch.arange(hidden.shape[1], device=hidden.device)[None] >= counts[:, None]
    if not ends.equal(hidden) or int(counts.min()) < 1:
        raise ValueError(f"{name}: expected padding on the right only")
    return hidden if bool(hidden.any()) else None


def _only(given: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str | None, Any]:
    """The one of some names that is given, with its value."""
    present = [name for name in names if name in given]
    if len(present) > 1:
        raise ValueError(f"expected one of {', '.join(present)}, received both")
    return (present[0], given[present[0]]) if present else (None, None)


def _checked(model: "Model", source: Any) -> Float[Tensor, "batch token dim"]:
    """The vectors as a batch, on the network's device and of its dtype."""
    weight, dim = next(model.network.parameters()), model.network.config.dim
    floats = isinstance(source, Tensor) and source.is_floating_point()
    vectors = source[None] if floats and source.ndim == 2 else source
    if not floats or vectors.ndim != 3 or vectors.shape[-1] != dim or not vectors.numel():
        dtype = getattr(source, "dtype", type(source).__name__)
        raise ValueError(
            f"{model.name} reads vectors: expected floats, token dim or batch token dim, at least"
            f" one token and width {dim}, received {tuple(source.shape) if floats else dtype}"
        )
    if vectors.shape[1] > model.limit:
        raise ValueError(
            f"{model.name} reads at most {model.limit} tokens, received {vectors.shape[1]}"
        )
    if not bool(vectors.isfinite().all()):
        raise ValueError("vectors: expected finite numbers, received NaN or infinity")
    return vectors.detach().to(device=weight.device, dtype=weight.dtype)


def _tokens(names: Any, counts: Sequence[int]) -> tuple[Tokens, ...]:
    """The tokens by their names, whose ids are where they first stand; else by positions."""
    items = [[*map(str, range(count))] for count in counts]
    if names is not None:
        items = names if names and isinstance(names[0], list | tuple) else [names]
        texts = all(isinstance(name, str) for item in items for name in item)
        if not texts or [*map(len, items)] != counts:
            raise ValueError(
                f"tokens: expected {' and '.join(map(str, counts))} names, a list for each item,"
                f" received {names}"
            )
    ids = [[item.index(name) for name in item] for item in items]
    pairs = zip(ids, items, strict=True)
    return tuple(Tokens.of_ids(row, {}, dict(zip(row, item, strict=True))) for row, item in pairs)


def _padding(given: Mapping[str, Any], vectors: Tensor) -> Bool[Tensor, "batch token"] | None:
    """True at padding; None without any."""
    name, mask = _only(given, PADDING)
    if name is None:
        return None
    mask, shape = torch.atleast_2d(torch.as_tensor(mask)), vectors.shape[:2]
    if mask.shape != shape:
        received = tuple(mask.shape)
        raise ValueError(f"{name}: expected batch token, {tuple(shape)}, received {received}")
    hidden = ~mask.bool() if name == MASK else _hidden(name, mask)
    return right_padding(name, hidden.to(vectors.device))


def _mask(given: Mapping[str, Any], length: int, device: torch.device) -> dict[str, Any]:
    """Whether the mask is causal, and where a query may attend if it is another one."""
    name, mask = _only(given, MASKS)
    whole = visible = torch.ones(length, length, dtype=torch.bool, device=device)
    if name is not None:
        mask = torch.as_tensor(mask)
        if mask.shape != whole.shape:
            shapes = tuple(whole.shape), tuple(mask.shape)
            raise ValueError(f"{name}: expected query key, {shapes[0]}, received {shapes[1]}")
        visible = ~_hidden(name, mask).to(device)
    if given.get("is_causal"):
        visible = visible.tril()
    asked = name is not None or bool(given.get("is_causal"))
    causal = asked and visible.equal(whole.tril())
    return {"causal": causal, "visible": None if causal or bool(visible.all()) else visible}


def _hidden(name: str, mask: Tensor) -> Bool[Tensor, "row col"]:
    """True at hidden keys, of booleans or of what is added to scores: 0 or −∞."""
    hidden = mask if mask.dtype == torch.bool else mask == -torch.inf
    if mask.dtype != torch.bool and not bool((hidden | (mask == 0)).all()):
        raise ValueError(f"{name}: expected booleans, True at hidden keys, or 0 and −∞")
    return hidden

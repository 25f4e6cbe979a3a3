"""Reads vectors for an encoder that has no embedding: one vector per token.

A tensor is `token dim` or `batch token dim`. In a mapping the names are those of PyTorch's forward
(`src` or `query`, in the module's own layout, with `mask`, `is_causal` and a padding mask) or of
transformers (`inputs_embeds`, `attention_mask`); `tokens` names the tokens.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from models.inputs.named import as_tensors
from models.inputs.sequences import InputSequence, ModelInputs
from models.text import named_items

if TYPE_CHECKING:
    from models.model import Model

PLAIN, MASK = "inputs_embeds", "attention_mask"  # of transformers
MEANINGS = {  # of the names in a mapping
    **dict.fromkeys(("src", "query", PLAIN), "vectors"),
    **dict.fromkeys(("mask", "src_mask", "attn_mask"), "mask"),
    **dict.fromkeys(("src_key_padding_mask", "key_padding_mask", MASK), "padding"),
    "is_causal": "causal",
}


def read_vectors(model: "Model", source: Any) -> ModelInputs:
    """The arguments of forward, and the tokens.

    Raises:
        ValueError: for anything but finite floats of the model's width, a mask that is not one of
            query and key, and padding that is not at the end.
    """
    given = dict(source) if isinstance(source, Mapping) else {PLAIN: source}
    names, query = given.pop("tokens", None), given.get("query")
    optional = {"key", "value"}  # which may be the queries themselves
    given = as_tensors({k: v for k, v in given.items() if k not in optional or v is not query})
    if unknown := sorted({*given} - {*MEANINGS}):
        raise ValueError(f"{model.name} does not read {', '.join(unknown)}")
    read = {MEANINGS[name]: (name, value) for name, value in given.items()}
    if len(read) < len(given):
        raise ValueError(f"expected one name for each input, received {', '.join(given)}")
    if "vectors" not in read:
        raise ValueError(f"{model.name}: expected a dict with src, query or {PLAIN}")
    name, vectors = read["vectors"]
    swapped = model.network.config.token_first and getattr(vectors, "ndim", 0) == 3
    vectors = _checked(model, vectors.transpose(0, 1) if swapped and name != PLAIN else vectors)
    items, length, _ = vectors.shape
    padding, visible, counts = None, torch.ones(length, length, dtype=torch.bool), [length] * items
    if "padding" in read:
        hidden = _hidden(*read["padding"], (items, length))
        padding = right_padding(read["padding"][0], hidden.to(vectors.device))
        counts = (~hidden).sum(1).tolist()
    if "mask" in read:
        visible = ~_hidden(*read["mask"], (length, length))
    visible = (visible.tril() if read.get("causal", ("", False))[1] else visible).to(vectors.device)
    whole = bool(visible.all())
    causal = not whole and visible.equal(torch.ones_like(visible).tril())
    arguments = {"vectors": vectors, "padding": padding, "causal": causal}
    arguments["visible"] = None if causal or whole else visible
    note = f"vectors: read as batch, token, dim: {items} × {length} tokens"
    notes = (note,) if swapped and not isinstance(source, Mapping) else ()
    return ModelInputs(
        arguments, {"text": InputSequence(named_items(names, counts), length)}, notes
    )


def right_padding(
    name: str, hidden: Bool[Tensor, "batch token"]
) -> Bool[Tensor, "batch token"] | None:
    """True at padding, all of it on the right; None without any."""
    counts = (~hidden).sum(1)
    ends = torch.arange(hidden.shape[1], device=hidden.device)[None] >= counts[:, None]
    if not ends.equal(hidden) or int(counts.min()) < 1:
        raise ValueError(f"{name}: expected padding on the right only")
    return hidden if bool(hidden.any()) else None


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
    if not bool(vectors.isfinite().all()):
        raise ValueError("vectors: expected finite numbers, received NaN or infinity")
    return vectors.detach().to(device=weight.device, dtype=weight.dtype)


def _hidden(name: str, mask: Any, shape: tuple[int, int]) -> Bool[Tensor, "row col"]:
    """True at hidden keys, of booleans or of what is added to scores: 0 or −∞.

    An `attention_mask` has 0 there.
    """
    mask = torch.atleast_2d(torch.as_tensor(mask))
    if mask.shape != shape:
        axes = "query key" if MEANINGS[name] == "mask" else "batch token"
        raise ValueError(f"{name}: expected {axes}, {shape}, received {tuple(mask.shape)}")
    if name == MASK or mask.dtype == torch.bool:
        return mask.bool() != (name == MASK)
    hidden = mask == -torch.inf
    if not bool((hidden | (mask == 0)).all()):
        raise ValueError(f"{name}: expected booleans, True at hidden keys, or 0 and −∞")
    return hidden

"""Answers to a prompt: written by the model, greedily, or given."""

import inspect
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.eval_mode import check_eval
from models.inputs.features import refusing_shapes

if TYPE_CHECKING:
    from models.model import Model

TEXT = "input_ids"
# What further tokens are in arguments that tell of each token: text that the model writes.
TYPES = ("token_type_ids", "mm_token_type_ids")
WRITTEN = {"paligemma": 1}  # the type of written tokens, where that is not 0


def can_write(network: Any) -> bool:
    """Whether a network of transformers goes on with a text."""
    getter = getattr(network, "get_output_embeddings", None)
    return getter is not None and getter() is not None and hasattr(network, "generate")


def writes_by_passes(network: Any) -> bool:
    """Whether each token that a network writes comes from a pass of the whole network."""
    from transformers import GenerationMixin

    return getattr(type(network), "generate", None) is vars(GenerationMixin)["generate"]


def add_answer(
    model: "Model",
    arguments: dict[str, Any],
    target: Any,
    most: int,
    watching: AbstractContextManager[Any] | None = None,
    logits_to_keep: int = 1,
) -> str | None:
    """Puts an answer behind the ids of a prompt.

    Args:
        model: that writes.
        arguments: of the prompt; changed in place.
        target: a text, ids, or None for what the model writes.
        most: the most tokens that it writes.
        watching: entered while the model writes: every token of the answer is read then, also
            the last one.
        logits_to_keep: how many tokens of the prompt get logits then; 0 for all.

    Returns:
        A note on what the model wrote; None for a given answer.

    Raises:
        ValueError: for an answer in a form that is not known, or several prompts.
    """
    if len(arguments[TEXT]) != 1:
        raise ValueError(f"prompt: expected one, received {len(arguments[TEXT])}")
    from models.inputs.generation import greedily

    note = None
    if target is None:
        with watching or nullcontext():
            ids, ended = _written(model, arguments, most, logits_to_keep)
        note = f"answer: written by the model, {greedily(model.network)}"
        note += "" if ended else f"; cut off after {ids.shape[1]} tokens"
    else:
        ids = _given(model, target)
    arguments.update(_longer(arguments, ids.to(model.device), model.network.config.model_type))
    return note


def _given(model: "Model", target: Any) -> Tensor:
    """The ids of an answer that is given."""
    if isinstance(target, Tensor):
        return target.reshape(1, -1)
    if not isinstance(target, str) or model.tokenizer is None:
        raise ValueError(f"target: expected a text or ids, received {type(target).__name__}")
    tokens = model.tokenizer.encode(target)
    ids = [
        token
        for token, special, span in zip(tokens.ids, tokens.special, tokens.spans, strict=True)
        if span is not None or not special
    ]
    return torch.tensor(ids, dtype=torch.long).reshape(1, -1)


def _written(
    model: "Model", arguments: dict[str, Any], most: int, logits_to_keep: int
) -> tuple[Tensor, bool]:
    """What the model writes, and whether it came to an end.

    One token more is written, and left out again: the last one of the answer is read as well.
    """
    from models.inputs.generation import ends_of, generate

    count = arguments[TEXT].shape[1]
    room = model.limit - count
    if room < 1:
        raise ValueError(f"{model.name} reads at most {model.limit} tokens: no room for an answer")
    given = {name: value for name, value in arguments.items() if value is not None}
    given.setdefault("attention_mask", torch.ones_like(arguments[TEXT]))
    if "logits_to_keep" in inspect.signature(model.network.forward).parameters:
        given["logits_to_keep"] = logits_to_keep
    check_eval(model.network)
    with refusing_shapes(model, given):
        ids = generate(model.network, given, max_new_tokens=min(most, room) + 1)
    if ids.shape[1] > count and ids[:, :count].equal(arguments[TEXT]):
        ids = ids[:, count:]  # some return the prompt as well
    ends = ends_of(model.network.generation_config)
    ended = bool(ids.shape[1]) and int(ids[0, -1]) in ends
    return (ids[:, :-1] if ended else ids[:, : min(most, room)]), ended


def _longer(arguments: dict[str, Any], ids: Tensor, family: str) -> dict[str, Any]:
    """The arguments that tell of each token, with those of the answer."""
    more = ids.shape[1]
    extended = {TEXT: torch.cat([arguments[TEXT], ids], dim=1)}
    mask = arguments.get("attention_mask")
    if isinstance(mask, Tensor) and mask.ndim == 2:
        extended["attention_mask"] = torch.cat([mask, mask.new_ones(1, more)], dim=1)
    for name in TYPES:
        if isinstance(arguments.get(name), Tensor):
            kind = arguments[name].new_full((1, more), WRITTEN.get(family, 0))
            extended[name] = torch.cat([arguments[name], kind], dim=1)
    crossed = arguments.get("cross_attention_mask")
    if isinstance(crossed, Tensor):
        last = crossed[:, -1:].expand(-1, more, *crossed.shape[2:])
        extended["cross_attention_mask"] = torch.cat([crossed, last], dim=1)
    return extended

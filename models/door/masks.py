"""The mask a library asks for, as a rule where the library's description of it allows."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from transformers.masking_utils import (
    bidirectional_mask_function,
    causal_mask_function,
    eager_mask,
    sdpa_mask,
)

from models.attention import Mask
from models.door.recognise import RuleMask, rule_of


def mask_for(asked: Mapping[str, Any]) -> Tensor | None:
    """What the library's eager attention would be given, without the matrix where a rule will do.

    Args:
        asked: the arguments of `transformers.masking_utils.eager_mask`.

    Returns:
        A `RuleMask`, the library's own matrix, or None where nothing is hidden.
    """
    offset = asked.get("q_offset", 0)
    if asked.get("use_vmap") or asked.get("kv_offset") or not isinstance(offset, int):
        return eager_mask(**asked)
    rule = _rule(asked, offset)
    if rule.dense is not None:
        return eager_mask(**asked)
    hides = rule.causal or rule.window is not None or rule.padding is not None
    if not hides and asked.get("allow_is_bidirectional_skip"):
        return None
    return RuleMask(
        rule,
        (asked["batch_size"], 1, asked["q_length"], asked["kv_length"]),
        asked.get("dtype", torch.float32),
        torch.device(asked.get("device", "cpu")),
    )


def _rule(asked: Mapping[str, Any], offset: int) -> Mask:
    """The mask the library describes: by its function where that says it all."""
    function = asked.get("mask_function", causal_mask_function)
    keys, given = asked["kv_length"], asked.get("attention_mask")
    if function not in (causal_mask_function, bidirectional_mask_function):
        whole = {"allow_is_causal_skip": False, "allow_is_bidirectional_skip": False}
        matrix = sdpa_mask(**{**asked, **whole})
        return Mask() if matrix is None else rule_of(matrix, asked["batch_size"])
    padding = None
    if given is not None and not (given.shape[1] >= keys and given[:, :keys].all()):
        shown = torch.zeros(len(given), keys, dtype=torch.bool, device=given.device)
        shown[:, : given.shape[1]] = given[:, :keys].bool()
        padding = ~shown.expand(asked["batch_size"], -1)
    causal = function is causal_mask_function
    return Mask(causal=causal, padding=padding, offset=offset if causal else 0)

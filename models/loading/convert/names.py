"""Shared by the converters: settings that are checked, and weights that are renamed.

Settings or weights that we would have to ignore, and that change the network, are refused by name.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from torch import Tensor

ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
}
MUST_BE = {"is_decoder": False, "add_cross_attention": False, "chunk_size_feed_forward": 0}
MUST_BE |= {"pruned_heads": {}}
# Settings of training, saving, generating and of heads on top: no trace of them in the network.
IGNORED = re.compile(
    r"_.*|architectures|.*dropout(_prob)?|initializer_range|gradient_checkpointing|use_cache"
    r"|.*_token_id|torch_dtype|dtype|transformers_version|id2label|label2id|num_labels"
    r"|problem_type|finetuning_task|output_.*|return_dict|torchscript|tie_.*|is_encoder_decoder"
    r"|pooler_.*|directionality|language|name|model_max_length|encoder_stride"
    r"|pretraining_tp|is_llama_config|rope_interleaved"
    r"|drop_path_rate|layerscale_value|out_features|out_indices|stage_names"
    r"|reshape_hidden_states|use_mask_token"
)
NO_WEIGHTS = ("position_ids", "token_type_ids", "rotary_emb.inv_freq")  # tables that follow
SPARE = re.compile(r"(^|\.)(pooler|mask_token)(\.|$)")  # of weights that no output depends on


def heads_in(left_out: Iterable[str]) -> tuple[str, ...]:
    """The weights of heads among those that a network has no place for."""
    return tuple(name for name in left_out if not SPARE.search(name))


def sizes_of(
    settings: Mapping[str, Any],
    sizes: Mapping[str, str],
    must_be: Mapping[str, Any],
    known: Iterable[str],
) -> dict[str, Any]:
    """The sizes of a config.json under our names.

    Args:
        settings: the contents of the file.
        sizes: our names of settings without which there is no network.
        must_be: settings with the only value that is known here (or null), beside `MUST_BE`.
        known: other settings that are read.

    Raises:
        ValueError: for a setting that is missing, unknown, or asks for another architecture.
    """
    missing = [name for name in sizes if name not in settings]
    if missing:
        raise ValueError(f"config.json lacks {', '.join(missing)}")
    must_be = {**MUST_BE, **must_be}
    for name, value in settings.items():
        if name in must_be and value not in (must_be[name], None):
            raise ValueError(f"{name}: expected {must_be[name]!r}, received {value!r}")
    read = {*sizes, *must_be, *known}
    unknown = [name for name in settings if name not in read and not IGNORED.fullmatch(name)]
    if unknown:
        raise ValueError(f"config.json has settings this converter does not know: {unknown}")
    return {ours: whole(theirs, settings[theirs]) for theirs, ours in sizes.items()}


def whole(name: str, value: Any) -> int:
    """The value, if it is a whole number from 1; else ValueError."""
    if type(value) is not int or value < 1:
        raise ValueError(f"{name}: expected a whole number from 1, received {value!r}")
    return value


def number(name: str, value: Any) -> float:
    """The value, if it is a number; else ValueError."""
    if not isinstance(value, int | float):
        raise ValueError(f"{name}: expected a number, received {value!r}")
    return value


def activation(name: Any) -> str:
    """Our name for an activation; ValueError for one that is not known here."""
    if not isinstance(name, str) or name not in ACTIVATIONS:
        raise ValueError(f"hidden_act: expected one of {list(ACTIVATIONS)}, received {name!r}")
    return ACTIVATIONS[name]


def in_blocks(
    depth: int, layers: str, parts: Mapping[str, str], kinds: Iterable[str] = ("weight", "bias")
) -> dict[str, str]:
    """Our names of the weights of all blocks, by theirs.

    Args:
        depth: number of blocks.
        layers: their name of the list of blocks.
        parts: our names of the parts of a block.
        kinds: of the weights of a part.
    """
    return {
        f"{layers}.{layer}.{theirs}.{kind}": f"blocks.{layer}.{ours}.{kind}"
        for layer in range(depth)
        for theirs, ours in parts.items()
        for kind in kinds
    }


def renamed(
    state: Mapping[str, Tensor],
    table: Mapping[str, str],
    plain: Callable[[str], str],
    beside: re.Pattern[str] | None,
    what: str,
) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """A checkpoint under our names.

    Args:
        state: the checkpoint.
        table: their plain names, ours.
        plain: takes prefixes and old spellings off their names.
        beside: plain names of weights that are left out; None where all have a place.
        what: the network, for the error.

    Returns:
        The weights under our names, and the names of the weights that were left out.

    Raises:
        ValueError: for a weight that is missing or that has no place in the network.
    """
    converted, left_out, unknown = {}, [], []
    for name, tensor in state.items():
        short = plain(name)
        if short in table:
            converted[table[short]] = tensor
        elif short.endswith(NO_WEIGHTS):
            continue
        elif beside is not None and beside.fullmatch(short):
            left_out.append(name)
        else:
            unknown.append(name)
    if unknown:
        raise ValueError(f"the checkpoint has weights with no place in {what}: {unknown[:5]}")
    missing = [theirs for theirs, ours in table.items() if ours not in converted]
    if missing:
        raise ValueError(f"the checkpoint lacks {', '.join(missing[:5])}")
    return converted, tuple(left_out)

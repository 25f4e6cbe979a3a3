"""Converts GPT-2 checkpoints to our `Decoder`: names of settings and of weights.

GPT-2 is a pre-norm decoder with learned positions (Radford et al. 2019). Its matrices are
multiplied from the right, x W, so that ours are transposed; those of queries, keys and values are
one. Settings or weights that we would have to ignore, and that change the attention, are refused.
"""

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from models.decoder import DecoderConfig
from models.loading.convert.names import (
    activation,
    check_settings,
    number,
    renamed,
    whole,
    with_head,
)

SIZES = {
    "vocab_size": "vocab",
    "n_embd": "dim",
    "n_layer": "depth",
    "n_head": "heads",
    "n_positions": "max_tokens",
}
KNOWN = {"n_inner", "activation_function", "layer_norm_epsilon", "tie_word_embeddings"}
MUST_BE = {
    "model_type": "gpt2",
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
    "is_decoder": False,
    "chunk_size_feed_forward": 0,
}
# Settings of training, saving, generating and of heads on top: no trace of them in the network.
IGNORED_SETTINGS = re.compile(
    r"_.*|architectures|attn_pdrop|embd_pdrop|resid_pdrop|initializer_range|use_cache|.*_token_id"
    r"|torch_dtype|dtype|transformers_version|summary_.*|task_specific_params|output_.*|n_ctx"
    r"|return_dict|torchscript|is_encoder_decoder|reorder_and_upcast_attn|id2label|label2id"
    r"|problem_type|gradient_checkpointing"
)
NORMS = {"ln_1": "before_attention", "ln_2": "before_feed_forward"}
LINEAR = {
    "attn.c_attn": "attention.stacked",
    "attn.c_proj": "attention.out",
    "mlp.c_fc": "feed_forward.up",
    "mlp.c_proj": "feed_forward.down",
}
EMBEDDINGS = {
    "wte.weight": "embedding.tokens.weight",
    "wpe.weight": "embedding.positions.table",
    "ln_f.weight": "norm.weight",
    "ln_f.bias": "norm.bias",
}
HEAD = "lm_head.weight"
LEFT_OUT = re.compile(r"h\.\d+\.attn\.(masked_)?bias")


def config(settings: Mapping[str, Any], state: Mapping[str, Tensor]) -> DecoderConfig:
    """Our config for the contents of a GPT-2 config.json.

    Raises:
        ValueError: for a setting that is missing, unknown, or that asks for another architecture.
    """
    check_settings(settings, SIZES, MUST_BE, KNOWN, IGNORED_SETTINGS)
    sizes: dict[str, Any] = {
        ours: whole(theirs, settings[theirs]) for theirs, ours in SIZES.items()
    }
    inner = settings.get("n_inner")
    return DecoderConfig(
        **sizes,
        mlp=4 * sizes["dim"] if inner is None else whole("n_inner", inner),
        activation=activation(settings.get("activation_function", "gelu_new")),
        norm="pre",
        positions="learned",
        embed_scale=False,
        tied=settings.get("tie_word_embeddings", True) is True or HEAD not in state,
        eps=number("layer_norm_epsilon", settings.get("layer_norm_epsilon", 1e-5)),
    )


def weights(
    state: Mapping[str, Tensor], config: DecoderConfig
) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """Our names for GPT-2's weights, transposed and taken apart.

    Raises:
        ValueError: for a weight that is missing or that has no place in the network.
    """
    table = EMBEDDINGS | {
        f"h.{layer}.{theirs}.{kind}": f"blocks.{layer}.{ours}.{kind}"
        for layer in range(config.depth)
        for theirs, ours in (NORMS | LINEAR).items()
        for kind in ("weight", "bias")
    }
    given, table = with_head(state, table, HEAD, config.tied)
    renamed_weights, left_out = renamed(given, table, _plain, LEFT_OUT, "a GPT-2")
    for layer in range(config.depth):
        for part in LINEAR.values():
            name = f"blocks.{layer}.{part}.weight"
            renamed_weights[name] = renamed_weights[name].T
        for kind in ("weight", "bias"):
            stacked = renamed_weights.pop(f"blocks.{layer}.attention.stacked.{kind}").chunk(3)
            for part, each in zip(("query", "key", "value"), stacked, strict=True):
                renamed_weights[f"blocks.{layer}.attention.{part}.{kind}"] = each
    return renamed_weights, left_out


def _plain(name: str) -> str:
    return name.removeprefix("transformer.")

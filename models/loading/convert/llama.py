"""Converts Llama checkpoints to our `Decoder`.

Llama is a pre-norm decoder with RMSNorm, rotary positions, a gated feed-forward network, and heads
of keys and values that several heads of queries share (Touvron et al. 2023). Settings or weights
that we would have to ignore, and that change the attention, are refused by name.
"""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from models.decoder import DecoderConfig
from models.loading.convert.names import in_blocks, number, renamed, sizes_of, whole

SIZES = {
    "vocab_size": "vocab",
    "hidden_size": "dim",
    "num_hidden_layers": "depth",
    "num_attention_heads": "heads",
    "intermediate_size": "mlp",
    "max_position_embeddings": "max_tokens",
}
KNOWN = {"num_key_value_heads", "head_dim", "rms_norm_eps", "tie_word_embeddings"}
KNOWN |= {"rope_parameters", "rope_theta"}
MUST_BE = {
    "model_type": "llama",
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
    "rope_scaling": None,
}
BLOCK = {
    "self_attn.q_proj": "attention.query",
    "self_attn.k_proj": "attention.key",
    "self_attn.v_proj": "attention.value",
    "self_attn.o_proj": "attention.out",
    "input_layernorm": "before_attention",
    "post_attention_layernorm": "before_feed_forward",
    "mlp.gate_proj": "feed_forward.gate",
    "mlp.up_proj": "feed_forward.up",
    "mlp.down_proj": "feed_forward.down",
}
EMBEDDINGS = {"embed_tokens.weight": "embedding.tokens.weight", "norm.weight": "norm.weight"}
HEAD = "lm_head.weight"


def config(settings: Mapping[str, Any], state: Mapping[str, Tensor]) -> DecoderConfig:
    """Our config for the contents of a Llama config.json.

    A checkpoint without an output projection has its embedding as one.

    Raises:
        ValueError: for a setting that is missing, unknown, or that asks for another architecture.
    """
    sizes = sizes_of(settings, SIZES, MUST_BE, KNOWN)
    shared, width = settings.get("num_key_value_heads"), settings.get("head_dim")
    return DecoderConfig(
        **sizes,
        kv_heads=None if shared is None else whole("num_key_value_heads", shared),
        head_dim=None if width is None else whole("head_dim", width),
        gated=True,
        activation="silu",
        norm="pre",
        norm_kind="rms",
        eps=number("rms_norm_eps", settings.get("rms_norm_eps", 1e-6)),
        positions="rotary",
        rotary_base=_base(settings),
        embed_scale=False,
        tied=settings.get("tie_word_embeddings") is True or HEAD not in state,
        qkv_bias=False,
        out_bias=False,
        dropout=0.0,
    )


def weights(
    state: Mapping[str, Tensor], config: DecoderConfig
) -> tuple[dict[str, Tensor], tuple[str, ...]]:
    """Our names for Llama's weights.

    Raises:
        ValueError: for a weight that is missing or that has no place in the network.
    """
    table = EMBEDDINGS | in_blocks(config.depth, "layers", BLOCK, ("weight",))
    if config.tied:  # a copy of the embedding may lie in the checkpoint
        state = {name: each for name, each in state.items() if name != HEAD}
    else:
        table[HEAD] = "output.weight"
    return renamed(state, table, lambda name: name.removeprefix("model."), None, "a Llama")


def _base(settings: Mapping[str, Any]) -> float:
    """The base of the wavelengths; ValueError for positions that are scaled."""
    stated = settings.get("rope_parameters")
    given = {} if stated is None else stated
    if not isinstance(given, Mapping) or given.get("rope_type", "default") != "default":
        raise ValueError(f"rope_parameters: expected rope_type 'default', received {given!r:.80}")
    unknown = sorted(set(given) - {"rope_type", "rope_theta"})
    if unknown:
        raise ValueError(f"rope_parameters: expected only rope_theta, received {unknown}")
    return number("rope_theta", given.get("rope_theta", settings.get("rope_theta", 10_000.0)))

"""Tiny models of chosen transformers architectures, one for each mechanism of attention.

`benchmarks.coverage.tiny` builds any model type by rule; these are written out, with inputs that
expose errors. Sizes are small and uneven, weights are drawn wide enough that every head is its own,
some tokens are padding, and images are neither square nor of the size a model was built for.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

BATCH, TOKENS, TARGET, VOCAB = 2, 11, 7, 53
SPREAD = 0.3  # of the weights: with less, heads look alike
TEXT: dict[str, Any] = {
    "vocab_size": VOCAB,
    "hidden_size": 30,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 37,
    "max_position_embeddings": 29,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GROUPED = {**TEXT, "hidden_size": 48, "num_attention_heads": 6, "num_key_value_heads": 2}
GROUPED |= {"intermediate_size": 40}  # mixtures of experts need multiples of 4
VISION: dict[str, Any] = {
    "hidden_size": 30,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 37,
    "image_size": 20,
    "patch_size": 4,
}
BARTISH: dict[str, Any] = {
    "vocab_size": VOCAB,
    "d_model": 30,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 3,
    "decoder_attention_heads": 5,
    "encoder_ffn_dim": 37,
    "decoder_ffn_dim": 31,
    "max_position_embeddings": 29,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
}
T5ISH: dict[str, Any] = {
    "vocab_size": VOCAB,
    "d_model": 30,
    "d_kv": 6,
    "d_ff": 37,
    "num_layers": 2,
    "num_decoder_layers": 2,
    "num_heads": 5,
    "decoder_start_token_id": 0,
}


@dataclass(frozen=True)
class Architecture:
    """One architecture, small.

    Attributes:
        name: as people call it.
        model: the library's class.
        config: the library's class of its config.
        sizes: what the config is given.
        inputs: gives one set of inputs.
        other: gives inputs of another size, if the model takes them.
        kinds: the kinds of its attention.
    """

    name: str
    model: str
    config: str
    sizes: Mapping[str, Any]
    inputs: Callable[[], dict[str, Tensor]]
    other: Callable[[], dict[str, Tensor]] | None = None
    kinds: tuple[str, ...] = ("self",)
    nested: Mapping[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)

    def build(self, seed: int = 5) -> nn.Module:
        """The model with weights drawn anew, in eval mode."""
        import transformers

        parts = {
            name: getattr(transformers, config)(**sizes).to_dict()
            for name, (config, sizes) in self.nested.items()
        }
        return build(self.model, self.config, {**self.sizes, **parts}, seed)


def build(model: str, config: str, sizes: Mapping[str, Any], seed: int = 5) -> Any:
    """A model of the library with weights drawn wide, in eval mode."""
    import transformers

    made = getattr(transformers, config)(**sizes)
    return drawn(getattr(transformers, model), made, seed)


def drawn(kind: Callable[[Any], nn.Module], config: Any, seed: int = 5) -> Any:
    """A network with weights drawn wide, in eval mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = kind(config)
        redraw(network)
    return network.eval()


def redraw(model: nn.Module) -> None:
    """Draws every matrix and bias anew; the weights of norms stay near 1."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim < 2 and "norm" in name.lower() and name.endswith("weight"):
                parameter.uniform_(0.7, 1.3)
            else:
                parameter.normal_(0.0, SPREAD)


def _dice(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def text(left: bool = False, tokens: int = TOKENS) -> dict[str, Tensor]:
    """Ids of two texts, the second shorter and filled up behind (or in front)."""
    ids = torch.randint(3, VOCAB, (BATCH, tokens), generator=_dice(tokens))
    mask = torch.ones_like(ids)
    mask[1, slice(0, 4) if left else slice(tokens - 4, None)] = 0
    ids[mask == 0] = 0
    return {"input_ids": ids, "attention_mask": mask}


def left() -> dict[str, Tensor]:
    """As `text`, filled up in front."""
    return text(left=True)


def both() -> dict[str, Tensor]:
    """Source and target ids."""
    ids = torch.randint(3, VOCAB, (BATCH, TARGET), generator=_dice(3))
    return {**text(), "decoder_input_ids": ids}


def pixels(rows: int = 20, cols: int = 20) -> dict[str, Tensor]:
    """Two images."""
    return {"pixel_values": torch.randn(BATCH, 3, rows, cols, generator=_dice(rows))}


def wide() -> dict[str, Tensor]:
    """Two images that are not square."""
    return pixels(16, 28)


def stretched() -> dict[str, Any]:
    """Two images that are not square, for models that have to be told."""
    return {**wide(), "interpolate_pos_encoding": True}


def pair() -> dict[str, Tensor]:
    """Two texts and two images."""
    return {**text(), **pixels()}


def sound() -> dict[str, Tensor]:
    """Two recordings as mel frames, and target ids."""
    ids = torch.randint(3, VOCAB, (BATCH, TARGET), generator=_dice(3))
    return {
        "input_features": torch.randn(BATCH, 16, 26, generator=_dice(7)),
        "decoder_input_ids": ids,
    }


def wave() -> dict[str, Tensor]:
    """Two recordings as samples."""
    return {"input_values": torch.randn(BATCH, 400, generator=_dice(7))}


def _plain(name: str, prefix: str, more: Mapping[str, Any] | None = None) -> Architecture:
    return Architecture(name, f"{prefix}Model", f"{prefix}Config", {**TEXT, **(more or {})}, text)


def _causal(
    name: str,
    prefix: str,
    more: Mapping[str, Any] | None = None,
    base: Mapping = TEXT,
    part: str = "",
) -> Architecture:
    sizes = {**base, **(more or {})}
    config = f"{prefix}{part}Config"
    return Architecture(name, f"{prefix}ForCausalLM", config, sizes, text, left, ("causal",))


def _vision(
    name: str, prefix: str, more: Mapping[str, Any] | None = None, other: Any = stretched
) -> Architecture:
    sizes = {**VISION, **(more or {})}
    return Architecture(name, f"{prefix}Model", f"{prefix}Config", sizes, pixels, other)


def _seq2seq(name: str, model: str, config: str, sizes: Mapping[str, Any]) -> Architecture:
    return Architecture(name, model, config, sizes, both, None, ("self", "causal", "cross"))


CLIP_TEXT = {**TEXT, "projection_dim": 17, "eos_token_id": 2}
CLIP_VISION = {**VISION, "projection_dim": 17}
LAYERS = {"layer_types": ["sliding_attention", "full_attention"]}
MOE = {"num_experts_per_tok": 2, "moe_intermediate_size": 20}
LATENT = {**GROUPED, **MOE, "num_key_value_heads": 6, "q_lora_rank": 11, "kv_lora_rank": 13}
LATENT |= {"qk_rope_head_dim": 4, "qk_nope_head_dim": 6, "v_head_dim": 7, "n_routed_experts": 4}
LATENT |= {"n_group": 2, "topk_group": 1, "first_k_dense_replace": 1}

ENCODERS = (
    _plain("BERT", "Bert"),
    Architecture("BERT with a head", "BertForMaskedLM", "BertConfig", TEXT, text),
    _plain("RoBERTa", "Roberta"),
    _plain("ALBERT", "Albert", {"embedding_size": 13}),
    _plain("ModernBERT", "ModernBert", {"local_attention": 6, "hidden_size": 36}),
)
DECODERS = (
    Architecture(
        "GPT-2",
        "GPT2LMHeadModel",
        "GPT2Config",
        {"vocab_size": VOCAB, "n_embd": 30, "n_layer": 2, "n_head": 3, "n_positions": 29}
        | {"bos_token_id": 1, "eos_token_id": 2},
        text,
        left,
        ("causal",),
    ),
    _causal("BioGPT", "BioGpt"),
    _causal("GPT-NeoX", "GPTNeoX", {"hidden_size": 48}),
    _causal("Llama", "Llama", base=GROUPED),
    _causal("Mistral", "Mistral", {"sliding_window": 4}, GROUPED),
    _causal("Gemma 2", "Gemma2", {"head_dim": 10, "sliding_window": 4} | LAYERS, GROUPED),
    _causal(
        "GPT-OSS",
        "GptOss",
        {"head_dim": 8, "num_local_experts": 3, "num_experts_per_tok": 2, "sliding_window": 4}
        | LAYERS,
        GROUPED,
    ),
    _causal("DeepSeek-V3", "DeepseekV3", base=LATENT),
    _causal("OPT", "OPT", {"ffn_dim": 37, "word_embed_proj_dim": 30}),
    _causal("Phi", "Phi", {"hidden_size": 48}),  # attention and MLP in parallel
    _causal("Cohere", "Cohere", base=GROUPED),
    _causal("Mixtral", "Mixtral", {"num_local_experts": 3, "num_experts_per_tok": 2}, GROUPED),
    _causal("Qwen3", "Qwen3", {"head_dim": 8}, GROUPED),
    _causal(
        "Qwen3-Next",  # an output gate
        "Qwen3Next",
        {"head_dim": 8, "num_experts": 4, "mlp_only_layers": [0, 1], **MOE}
        | {"shared_expert_intermediate_size": 12, "layer_types": ["full_attention"] * 2},
        GROUPED,
    ),
    # with a norm behind the MLP
    _causal("Gemma 3", "Gemma3", {"head_dim": 10, "sliding_window": 4} | LAYERS, GROUPED, "Text"),
    _causal("OLMo 2", "Olmo2", base=GROUPED),
    _causal("GLM-4", "Glm4", {"head_dim": 8}, GROUPED),
)
SWIN = {"image_size": 24, "patch_size": 2, "embed_dim": 12, "window_size": 4}
SWIN |= {"depths": [2, 2], "num_heads": [2, 3]}
IMAGES = (
    _vision("ViT", "ViT"),
    _vision(
        "BEiT",
        "Beit",
        {"vocab_size": VOCAB, "use_relative_position_bias": True},
        stretched,
    ),
    _vision("DeiT", "DeiT"),
    _vision("CLIP vision", "CLIPVision"),
    _vision("ViT-MSN", "ViTMSN"),
    _vision("DINOv2", "Dinov2", other=wide),
    _vision("DINOv2 with registers", "Dinov2WithRegisters", {"num_register_tokens": 3}, wide),
    _vision("SigLIP vision", "SiglipVision"),
    _vision("YOLOS", "Yolos", {"image_size": [20, 20], "num_detection_tokens": 5}, wide),
    Architecture(
        "Swin",
        "SwinModel",
        "SwinConfig",
        SWIN,
        lambda: pixels(24, 24),
        lambda: pixels(26, 38),
    ),
)
PAIRS = (
    Architecture(
        "CLIP",
        "CLIPModel",
        "CLIPConfig",
        {"projection_dim": 17},
        pair,
        nested={
            "text_config": ("CLIPTextConfig", CLIP_TEXT),
            "vision_config": ("CLIPVisionConfig", CLIP_VISION),
        },
        kinds=("causal", "self"),
    ),
    Architecture(
        "SigLIP",
        "SiglipModel",
        "SiglipConfig",
        {},
        pair,
        nested={
            "text_config": ("SiglipTextConfig", TEXT),
            "vision_config": ("SiglipVisionConfig", VISION),
        },
    ),
)
SEQ2SEQ = (
    _seq2seq("T5", "T5ForConditionalGeneration", "T5Config", T5ISH),
    _seq2seq("Pegasus", "PegasusForConditionalGeneration", "PegasusConfig", BARTISH),
    _seq2seq("BART", "BartForConditionalGeneration", "BartConfig", BARTISH),
    _seq2seq("Marian", "MarianMTModel", "MarianConfig", BARTISH),
    Architecture(
        "Whisper",
        "WhisperForConditionalGeneration",
        "WhisperConfig",
        {**BARTISH, "num_mel_bins": 16, "max_source_positions": 13, "max_target_positions": 29}
        | {"suppress_tokens": None, "begin_suppress_tokens": None},
        sound,
        None,
        ("self", "causal", "cross"),
    ),
)
SOUND = (
    Architecture(
        "wav2vec 2.0",
        "Wav2Vec2Model",
        "Wav2Vec2Config",
        {**TEXT, "conv_dim": [8, 8], "conv_stride": [5, 4], "conv_kernel": [10, 5]}
        | {"num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2},
        wave,
    ),
)
ARCHITECTURES = (*ENCODERS, *DECODERS, *IMAGES, *PAIRS, *SEQ2SEQ, *SOUND)

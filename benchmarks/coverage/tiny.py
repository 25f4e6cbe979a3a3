"""Tiny models of every model type of transformers, built from their configs.

A config is taken with its defaults and shrunk by the names of its fields: widths, depths, heads,
vocabularies, windows. `OVERRIDES` holds what a type needs beside these rules.
"""

import contextlib
import inspect
import logging
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

WIDTH, HEADS, SHARED_HEADS, HEAD_WIDTH = 64, 4, 2, 16
LAYERS, INNER, VOCAB, EXPERTS, WINDOW = 2, 48, 128, 4, 4
IMAGE, PATCH = 32, 8
POSITIONS = 512
MAX_PARAMETERS = 100_000_000
SPREAD = 1.5  # of the weights: with less, heads look alike

# What single model types need beside the rules below; they hold wherever the type is nested.
OVERRIDES: dict[str, dict[str, Any]] = {
    "mamba2": {"num_heads": 8},
    "bit": {"num_groups": 4},
    "glm5_next_text": {"index_kpool": 2},
    "glm4v_moe_text": {"rope_parameters": {"mrope_section": [2, 1, 1]}},
    "gemma3n_text": {"num_kv_shared_layers": 0},
    "gemma4_unified_assistant": {"num_kv_shared_layers": 0},
    "layoutlmv3": {"coordinate_size": 8, "shape_size": 16},
    "lilt": {"hidden_size": 96},
    "lw_detr_vit": {"num_windows": 4, "num_windows_side": 2, "window_block_indices": [0]},
    "llama4_vision_model": {"intermediate_size": 256},
    "kosmos-2": {"latent_query_num": 4},
    "kosmos-2.5": {"latent_query_num": 4},
    "kosmos_2_5_vision_model": {"patch_embed_hidden_size": 192},
    "pix2struct_vision_model": {"patch_embed_hidden_size": 192},
    "exaone4_5_vision": {"window_size": IMAGE},
    "mobilebert": {"intra_bottleneck_size": WIDTH, "true_hidden_size": WIDTH},
    "moonshine": {"encoder_num_key_value_heads": 4, "decoder_num_key_value_heads": 4},
    "pp_formulanet_vision": {"output_channels": WIDTH},
    "mllama_vision_model": {"intermediate_layers_indices": [0, 1], "vision_output_dim": 3 * WIDTH},
    "jamba": {"attn_layer_offset": 1, "attn_layer_period": 2},
    "bamba": {"attn_layer_indices": [1]},
    "granitemoehybrid": {"layer_types": ["mamba", "attention"]},
    "recurrent_gemma": {"num_hidden_layers": 3},
    "swin2sr": {"image_size": 16},
    "vjepa2": {"crop_size": IMAGE, "frames_per_clip": 4},
    "step3p5": {"sliding_window": WINDOW},
    "cvt": {"depth": [1, 2, 3]},
    "gemma4_assistant": {"text_config": {"num_kv_shared_layers": LAYERS}},
    "fun_asr_nano": {},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"], "num_dense_layers": 1},
    "mistral_large4_text": {"kv_source_layers": [0, 1]},
    "muse_spark_audio": {
        "num_hidden_layers": 2,
        "patch_sizes": [4, 4],
        "hidden_sizes": [32, 64],
        "depths": [1, 1],
    },
    "mobilevit": {"hidden_sizes": [16, 32, 64]},
    "mimi": {"upsample_groups": 64},
    "attn_config": {"rope_theta": 10000.0},
    "bros": {"dim_bbox_projection": HEAD_WIDTH},
    "clvp_encoder": {"hidden_size": 128, "projection_dim": 64, "intermediate_size": 64},
    "clvp_decoder": {"hidden_size": 128},
    "granite4_vision": {"deepstack_layer_map": [[-1, 0]], "downsample_rate": "2/4"},
    "molmo2_adapter": {"vision_feature_layer": [-1, -2]},
    "molmo2": {"vision_feature_layer": [-1, -2]},
    "dots3_note_audio_encoder": {
        "feature_size": 128,
        "adapter_input_size": WIDTH,
        "conv_output_size": 16 * WIDTH,
    },
    "deepseek_ocr2_sam_vision_model": {"downsample_channels": [32, WIDTH]},
    "unlimited_ocr_sam_vision_model": {"downsample_channels": [32, WIDTH]},
    "dbrx": {"attn_config": {"clip_qkv": 8.0, "rope_theta": 10000.0}},
    "pix2struct_text_model": {"initializer_range": 0.02},
    "t5gemma2_text": {"dropout_rate": 0.0},
    "t5gemma2_decoder": {"dropout_rate": 0.0},
    "qwen3_omni_moe_talker_text": {"shared_expert_intermediate_size": INNER},
    "qwen2_5_omni_talker": {"rope_parameters": {"mrope_section": [3, 3, 2]}},
    "cohere_compass_text": {
        "rope_parameters": {
            "full_attention": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [3, 3, 2],
            }
        }
    },
    "autoformer": {"label_length": 4, "moving_average": 5},
    "qwen4_exp_text": {
        "indexer_n_heads": 4,
        "indexer_kv_heads": 1,
        "indexer_head_dim": HEAD_WIDTH,
        "indexer_budget": 4,
        "indexer_compress_ratio": 2,
    },
    "lw_detr": {
        "projector_scale_factors": [1.0],
        "projector_in_channels": [WIDTH],
        "num_feature_levels": 1,
        "num_queries": 4,
        "group_detr": 2,
    },
    "rf_detr": {"num_queries": 4, "group_detr": 2},
    "vitmatte": {
        "backbone_config": {"patch_size": 16, "image_size": 64, "pretrain_image_size": 64}
    },
    "sam_vision_model": {"num_pos_feats": WIDTH // 2, "global_attn_indexes": [1]},
    "sam_hq_vision_model": {"num_pos_feats": WIDTH // 2, "global_attn_indexes": [1]},
    "sam_prompt_encoder": {"image_embedding_size": IMAGE // PATCH},
    "sam_hq_prompt_encoder": {"image_embedding_size": IMAGE // PATCH},
    "sam2_hiera_det_model": {
        "hidden_size": 16,
        "image_size": [64, 64],
        "blocks_per_stage": [1, 2, 2, 2],
        "embed_dim_per_stage": [16, 32, 64, 128],
        "global_attention_blocks": [4],
    },
    "sam2_vision_model": {
        "backbone_channel_list": [128, 64, 32, 16],
        "backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]],
    },
    "sam2_prompt_encoder": {"image_size": 64, "patch_size": 16},
    "sam3_vision_model": {"backbone_feature_sizes": [[16, 16], [8, 8], [4, 4]]},
    "shieldgemma2": {"yes_token_index": 7, "no_token_index": 8},
    "tvp": {"visual_prompt_size": 16, "max_img_size": 128, "num_frames": 2},
    "depth_pro": {
        "patch_size": IMAGE,
        "intermediate_hook_ids": [1, 0],
        "image_model_config": {"image_size": IMAGE},
        "patch_model_config": {"image_size": IMAGE},
        "fov_model_config": {"image_size": IMAGE},
    },
    "clap_audio_model": {"spec_size": 128},
    "deepseek_ocr2_text": {"mlp_layer_types": ["dense", "sparse"]},
    "ernie4_5_vl_moe_text": {"rope_parameters": {"mrope_section": [3, 3, 2]}},
    "esm": {"vocab_size": VOCAB, "pad_token_id": 0, "mask_token_id": 3},
    "falcon_h1": {"mamba_d_ssm": 2 * WIDTH, "mamba_n_heads": 8, "mamba_d_head": HEAD_WIDTH},
    "zamba": {
        "num_hidden_layers": 4,
        "attention_hidden_size": 2 * WIDTH,
        "attention_head_dim": 2 * HEAD_WIDTH,
        "layers_block_type": ["linear_attention", "hybrid", "linear_attention", "hybrid"],
    },
    "zamba2": {
        "attention_hidden_size": 2 * WIDTH,
        "attention_head_dim": 2 * HEAD_WIDTH,
        "mamba_headdim": 2 * WIDTH // HEADS,
        "layers_block_type": ["linear_attention", "hybrid"],
        "hybrid_layer_ids": [1],
    },
    "rf_detr_dinov2": {"num_windows": 2, "image_size": 64},
    "pp_doclayout_v2": {
        "num_queries": 4,
        "class_thresholds": [0.5] * 25,
        "class_order": list(range(25)),
    },
    "uvdoc": {
        "backbone_config": {
            "out_features": [f"stage{stage}" for stage in range(1, 7)],
            "out_indices": [1, 2, 3, 4, 5, 6],
        }
    },
    "moonshine_streaming": {"num_key_value_heads": HEADS},
    "vits": {"vocab_size": VOCAB},
    "neucodec": {"quantization_dim": 2 * WIDTH},
    "xcodec2": {"quantization_dim": 2 * WIDTH},
    "emu3_vqgan": {"base_channels": 32},
    "qwen2_5_omni_bigvgan": {"upsample_initial_channel": WIDTH},
    "qwen2_5_omni_thinker": {"vision_start_token_id": 9},
    "qwen3_omni_moe_thinker": {"vision_start_token_id": 9},
    "emu3": {"vocabulary_map": {"<image>": VOCAB - 9, "<|extra_200|>": 7}},
}
# Arguments of default configs that cannot be made without, or would need another package.
DEFAULTS: dict[str, dict[str, Any]] = {
    "gemma4_assistant": {
        "text_config": {"hidden_size_per_layer_input": 0, "vocab_size_per_layer_input": 0}
    },
}
UNCHANGED = (
    "efficientloftr",
    "uvdoc_backbone",
    "hgnet_v2",
    "rt_detr_resnet",
    "pp_lcnet",
    "pp_lcnet_v3",
    "pp_lcnet_v4",
)  # few numbers
# Fields whose default None a model cannot be built with.
UNSET = {
    "head_dim": HEAD_WIDTH,
    "num_key_value_heads": HEADS,
    "n_routed_experts": EXPERTS,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "vocab_size": VOCAB,
    "image_token_index": VOCAB - 9,
    "image_token_id": VOCAB - 9,
    "video_token_index": VOCAB - 8,
    "moe_intermediate_size": INNER,
    "num_experts": EXPERTS,
    "top_k_experts": 2,
    "prediction_length": 6,
    "vocabulary_map": {"<image>": VOCAB - 9},
}
THREE_AXES = ("glm4v", "glm_image", "glm_ocr", "qwen2_vl", "qwen2_5_vl", "qwen2_5_omni")
_RATIOS = {"long": 7, "mid": 5, "short": 3}
_CONVOLUTIONS = {
    "reduce_channel": [1, 1, 0],
    "return_channel": [1, 1, 0],
    **{
        f"{name}_{ratio}ratio": [[rows, cols], 1, [rows // 2, cols // 2]]
        for ratio, size in _RATIOS.items()
        for name, rows, cols in (
            ("vertical_long_to_small_conv", size, 1),
            ("horizontal_small_to_long_conv", 1, size),
            ("symmetric_conv_long", size, size),
        )
    },
}
_STAGES = {"out_features": [f"stage{stage}" for stage in (1, 2, 3, 4)], "out_indices": [1, 2, 3, 4]}
OVERRIDES["pp_ocrv6_small_det"] = {"backbone_config": _STAGES}
for _name in ("pp_ocrv5_server_det", "pp_ocrv6_medium_det"):
    OVERRIDES[_name] = {
        "intraclass_block_config": _CONVOLUTIONS,
        "scale_factor_list": [1, 2, 4, 8],
        "kernel_list": [3, 2, 2],
    }
OVERRIDES["pp_ocrv6_medium_det"]["backbone_config"] = _STAGES
for _name in ("tokenizer", "tokenizer_encoder", "tokenizer_decoder"):
    OVERRIDES[f"vibevoice_acoustic_{_name}"] = {"num_filters": 2}
for _name in (*THREE_AXES, "paddleocr_vl", "hunyuan_vl"):
    OVERRIDES.setdefault(f"{_name}_text", {"rope_parameters": {"mrope_section": [3, 3, 2]}})
CLASSES = {  # where the library's tables name a class for another config
    "musicgen": "MusicgenForConditionalGeneration",
    "musicgen_melody": "MusicgenMelodyForConditionalGeneration",
}
UNTRIED = {
    "esmfold2": "takes the atoms of a structure, which its processor makes",
    "qwen2_5_omni_token2wav": "integrates from noise: its two networks are tried",
}
COMPOSED: dict[str, dict[str, str]] = {
    "encoder-decoder": {"encoder": "bert", "decoder": "bert"},
    "vision-encoder-decoder": {"encoder": "vit", "decoder": "gpt2"},
    "speech-encoder-decoder": {"encoder": "wav2vec2", "decoder": "bert"},
    "vision-text-dual-encoder": {"vision_config": "vit", "text_config": "bert"},
}


@dataclass(frozen=True)
class ModelType:
    """A model type of transformers.

    Attributes:
        name: as its config calls it.
        config: class of its config.
        model: class of its model.
        family: what it reads, for ordering.
    """

    name: str
    config: type[PreTrainedConfig]
    model: type[PreTrainedModel]
    family: str


FAMILIES = (
    "text encoders",
    "text decoders",
    "text encoder–decoders",
    "vision",
    "audio",
    "multimodal",
    "other",
)
PIXELS = {"pixel_values", "pixel_values_videos", "flattened_patches", "pixel_values_images"}
SOUNDS = {"input_features", "input_values", "audio_values", "input_audio"}


def model_types(only: Sequence[str] = ()) -> Iterator[ModelType | tuple[str, str]]:
    """Every model type (or these) with a model of its own; else its name and why there is none."""
    seen: set[type] = set()
    for name in CONFIG_MAPPING:
        if only and name not in only:
            continue
        try:
            config = CONFIG_MAPPING[name]
            model = _class_of(name, config)
        except Exception as error:
            yield name, reason_of(error)
            continue
        if config in seen or config.model_type not in (name, ""):
            yield name, "shares its config class with another model type"
        elif model is None:
            yield name, _whole_of(config)
        elif reason := _not_called(name, model):
            yield name, reason
        else:
            seen.add(config)
            yield ModelType(name, config, model, _family(name, model))


def model_type(name: str) -> ModelType:
    """The model type of that name.

    Raises:
        ValueError: why it has no model of its own.
    """
    kind = next(model_types([name]))
    if isinstance(kind, tuple):
        raise ValueError(": ".join(kind))
    return kind


def _whole_of(config: type[PreTrainedConfig]) -> str:
    """What a config without a model class describes."""
    for name in CONFIG_MAPPING:
        parts: Any = CONFIG_MAPPING[name].sub_configs
        if config in parts.values():
            return "a part of another model type, with no class that can be called alone"
    return "no model class is found for its config"


def _not_called(name: str, model: type[PreTrainedModel]) -> str:
    """Why the forward of a class is not called; "" if it is."""
    if model.forward is nn.Module.forward:
        return "has no forward: its parts, each a model type, run one after another"
    if "inference_session" in forward_arguments(model):
        return "runs over a video session, frame by frame"
    return UNTRIED.get(name, "")


def reason_of(error: BaseException) -> str:
    """An error in one line."""
    said = str(error.args[0]) if error.args and isinstance(error, ValueError) else str(error)
    lines = said.strip().splitlines() or [""]
    line = lines[0] if isinstance(error, ImportError) else lines[-1]
    return f"{type(error).__name__}: {line.strip():.300}"


def _tables() -> list[str]:
    """The library's tables of model classes, most general first."""
    names = [n for n in dir(modeling_auto) if re.fullmatch(r"MODEL_FOR_\w+_MAPPING_NAMES", n)]
    first = ["MODEL_MAPPING_NAMES", "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES"]
    return first + sorted(set(names) - set(first))


def _class_of(name: str, config: type[PreTrainedConfig]) -> type[PreTrainedModel] | None:
    if name in CLASSES:
        return getattr(transformers, CLASSES[name])
    for table in _tables():
        class_name = getattr(modeling_auto, table).get(name)
        class_name = class_name[0] if isinstance(class_name, tuple | list) else class_name
        kind = getattr(transformers, class_name, None) if class_name else None
        if isinstance(kind, type) and issubclass(kind, PreTrainedModel):
            return kind
    module = sys.modules[config.__module__]
    place = module.__name__.replace(".configuration_", ".modeling_")
    with contextlib.suppress(ImportError):
        __import__(place)
        kinds = [
            kind
            for kind in vars(sys.modules[place]).values()
            if isinstance(kind, type)
            and issubclass(kind, PreTrainedModel)
            and getattr(kind, "config_class", None) is config
            and "forward" in vars(kind)
        ]
        public = [kind for kind in kinds if not kind.__name__.endswith("PreTrainedModel")]
        public.sort(key=lambda kind: ("For" in kind.__name__, len(kind.__name__)))
        return public[0] if public else None
    return None


def forward_arguments(model: type[nn.Module]) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(model.forward).parameters)


def _family(name: str, model: type[PreTrainedModel]) -> str:
    takes = set(forward_arguments(model))
    main = getattr(model, "main_input_name", "")
    takes |= {main} if isinstance(main, str) else set(main)
    text = "input_ids" in takes
    sees = bool(takes & PIXELS) or any(n.startswith("pixel_values") for n in takes)
    hears = bool(takes & SOUNDS)
    if name in ("vision-encoder-decoder", "speech-encoder-decoder"):
        return "multimodal"
    if sum((text, sees, hears)) > 1:
        return "multimodal"
    if sees or re.search("vision|vit|image|patch", name):
        return "vision"
    if hears or "audio" in name:
        return "audio"
    if not text:
        return "other"
    if "decoder_input_ids" in takes:
        return "text encoder–decoders"
    causal = name in modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    masked = name in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    return "text decoders" if causal and not masked else "text encoders"


# --- configs --------------------------------------------------------------------------------------

ATTRIBUTES = re.compile(r"initializer|dropout|prob|eps|_lr|decay|cost|coefficient|loss|theta|base$")
LAYERS_NAME = re.compile(
    r"^(num_hidden_layers|n_layers?|num_layers|(num_)?(encoder|decoder|enc|dec)_layers|layers|depth"
    r"|num_blocks|encoder_num_layers|decoder_num_layers|.*num_(hidden_)?layers|n_enc_layer"
    r"|n_dec_layer|num_(encoder|decoder)_(hidden_)?layers|.*_depth|num_decoder_blocks"
    r"|(text|vision|audio|perceiver|cross)_?(num_)?layers|num_.*_layers)$"
)
NOT_LAYERS = re.compile(
    r"feat_extract|adapter|shared|kv|nextn|mtp|lstm|residual|upsampling|self_attends|dense_layers"
)
WIDTH_NAME = re.compile(
    r"(hidden_size|hidden_dim|d_model|n_embd|embed_dim|emb_dim|projection_dim|proj_dim|embedding_size"
    r"|embedding_dim|d_embed|^dim$|_dim$|_width|hidden_features|_channels$|feature_size|_size_global|projection_size"
    r"|d_latents|qk_channels|v_channels|attention_hidden_size|pooler_output_size|output_hidden_size"
    r"|hidden_sizes?|cross_attention_hidden_size|model_dim|num_pos_feats|_hidden$)"
)
NOT_WIDTH = re.compile(
    r"^(num_channels|in_channels|in_chans|audio_channels|image_channels|input_channels|out_channels"
    r"|base_channels|num_input_channels|mask_input_channels|input_size|num_mel|mel_dim|input_dim"
    r"|feature_projection_input_dim|cond_dim|num_embeddings)|_head_dim|head_dim|kernel"
)
INNER_NAME = re.compile(
    r"(intermediate_size|intermediate_dim|ffn_dim|d_ff$|d_inner|n_inner|ffn_hidden|mlp_dim"
    r"|feed_forward|feedforward_size|dim_feedforward|ffn_size|mlp_hidden|inner_dim|ffn_embed)"
)
VOCAB_NAME = re.compile(
    r"vocab_size|group_vocab$|codebook_size$|num_embeddings$|audio_vocab|vocabulary"
)
TOKEN_NAME = re.compile(r"(_token_id|_token_index|_token_ids|_index|_token|_id|_ids|_idx)s?$")
HEADS_NAME = re.compile(r"heads?$|^n_heads?$|num_attention_heads|attention_heads|_n_heads|heads_")
WINDOW_NAME = re.compile(
    r"^(sliding_window|sliding_window_size|attention_window|local_attention|attention_chunk_size"
    r"|index_topk|window_size|local_attn_window_size|swa_window|block_length|attention_window_size)$"
)
EXPERTS_NAME = re.compile(r"^(n|num|moe_num)_(routed_|local_)?experts$|^num_experts$|_num_experts$")
CHOSEN_NAME = re.compile(
    r"experts_per_tok|moe_top_?k|^top_k$|num_selected_experts|moe_k$|experts_top"
)
POSITIONS_NAME = re.compile(
    r"max_position|n_positions|max_seq|n_ctx|max_source|max_target|max_len|seq_length|max_sequence"
)
IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}


def tiny_config(kind: ModelType, widths: bool = True) -> PreTrainedConfig:
    """The default config of a model type, shrunk.

    Args:
        kind: the model type.
        widths: shrink widths too; else only depths, vocabularies, experts and windows.

    Raises:
        Exception: whatever the config raises where the rules do not fit.
    """
    with quiet():
        if kind.name in COMPOSED:
            parts = COMPOSED[kind.name]
            parts_config: dict[str, Any] = {
                part: shrunk(CONFIG_MAPPING[name]().to_dict(), name) for part, name in parts.items()
            }
            if "decoder" in parts_config:
                parts_config["decoder"] |= {"is_decoder": True, "add_cross_attention": True}
            parts_config |= {
                "pad_token_id": 0,
                "decoder_start_token_id": 1,
                "projection_dim": WIDTH,
            }
            return kind.config(**parts_config)
        make: Any = kind.config
        default = make(**DEFAULTS.get(kind.name, {}))
        if getattr(getattr(default, "backbone_config", None), "model_type", "") == "timm_backbone":
            default = make(use_timm_backbone=False)
        settings = shrunk(_whole(default), kind.name, widths)
        return kind.config.from_dict(settings)


def _whole(config: PreTrainedConfig) -> dict[str, Any]:
    settings = config.to_dict()
    for name in ("transformers_version", "architectures", "dtype", "_attn_implementation"):
        settings.pop(name, None)
    return settings


def shrunk(settings: Mapping[str, Any], name: str, widths: bool = True) -> dict[str, Any]:
    """Settings of a config with small numbers; nested configs too."""
    name = settings.get("model_type") or name
    if name in UNCHANGED or not all(isinstance(key, str) for key in settings):
        return dict(settings)
    depth = _depth(settings)
    staged = isinstance(settings.get("depths"), list | tuple)
    depth = 0 if staged else depth
    new = {key: _smaller(key, value, settings, depth, widths) for key, value in settings.items()}
    if staged:
        new |= {k: v for k, v in settings.items() if k in ("num_layers", "num_hidden_layers")}
    if isinstance(settings.get("per_layer_config"), Mapping):
        old = settings.get("layer_types") or [None] * LAYERS
        kept = [old.index(each) for each in _one_each(old)] if old[0] else [0, 1]
        theirs = {int(k): v for k, v in settings["per_layer_config"].items()}
        new["per_layer_config"] = {
            str(index): shrunk(theirs[before], name, widths)
            for index, before in enumerate(kept)
            if before in theirs
        }
    kinds = new.get("layer_types")
    if isinstance(kinds, list):
        for key in ("num_hidden_layers", "num_layers", "n_layer"):
            if isinstance(new.get(key), int):
                new[key] = len(kinds)
    stages = new.pop("stage_names", None)
    if stages and new.get("out_features"):
        count = len(new["out_features"])
        deepest = max(
            [v for k, v in new.items() if LAYERS_NAME.match(k) and isinstance(v, int)], default=0
        )
        if len(stages) == depth + 1 and deepest:
            new["num_hidden_layers"] = max(deepest, count)
            new["out_features"] = [f"stage{index + 1}" for index in range(count)]
            new.pop("out_indices", None)
    for key, value in OVERRIDES.get(name, {}).items():
        nested = isinstance(value, dict) and isinstance(new.get(key), dict)
        new[key] = {**new[key], **value} if nested else value
    return new


def _depth(settings: Mapping[str, Any]) -> int:
    """The largest number of layers."""
    names = [k for k in settings if LAYERS_NAME.match(k) and not NOT_LAYERS.search(k)]
    return max((settings[k] for k in names if isinstance(settings[k], int)), default=0)


def _smaller(
    key: str, value: Any, settings: Mapping[str, Any], depth: int, widths: bool = True
) -> Any:
    if isinstance(value, Mapping):
        if key == "rope_parameters" or key.startswith("rope_"):
            return _rotary(value)
        if key in ("id2label", "label2id", "task_specific_params"):
            return value
        return shrunk(value, key, widths)
    if value is None:
        return UNSET.get(key) if widths else None
    if isinstance(value, bool) or ATTRIBUTES.search(key):
        return value
    if isinstance(value, list | tuple):
        return _smaller_list(key, value, settings, depth, widths)
    if not isinstance(value, int):
        return value
    return _smaller_number(key, value, settings, widths)


def _smaller_number(key: str, value: int, settings: Mapping[str, Any], widths: bool) -> int:
    if value <= 0:
        return value
    if key in IDS:
        return IDS[key]
    if TOKEN_NAME.search(key) and (value >= VOCAB - 32 or re.match("image|audio|video", key)):
        return VOCAB - 32 + sum(map(ord, key)) * 7 % 31
    if VOCAB_NAME.search(key):
        return min(value, VOCAB)
    if CHOSEN_NAME.search(key):
        return min(value, 2)
    if EXPERTS_NAME.search(key):
        return min(value, EXPERTS)
    if key == "window_size" and value > 64:  # in pixels
        return IMAGE
    if WINDOW_NAME.match(key):
        return min(value, WINDOW)
    if LAYERS_NAME.match(key) and not NOT_LAYERS.search(key):
        return min(value, LAYERS)
    if not widths:
        return min(value, 4 * IMAGE) if key in ("image_size", "img_size") else value
    if key in ("qk_nope_head_dim", "qk_rope_head_dim"):
        return HEAD_WIDTH // 2
    if key in ("n_group", "topk_group", "num_expert_group", "moe_n_group"):
        return 1
    if key == "mm_tokens_per_image":
        return min(value, 4)
    if "lora_rank" in key:
        return min(value, 24)
    if key == "head_dim" and value == settings.get("qk_rope_head_dim"):
        return HEAD_WIDTH // 2
    if key in ("rotary_dim", "rotary_ndims"):
        return min(value, HEAD_WIDTH // 2)
    if re.search(r"head_(dim|size)|d_kv$|dim_head|d_head|dim_per_head|head_width", key):
        return min(value, HEAD_WIDTH)
    if re.search(r"key_value_heads|kv_heads|n_head_kv", key):
        return HEADS if value == settings.get("num_attention_heads") else min(value, SHARED_HEADS)
    if re.search(r"mamba_(n|num)_heads", key):
        return 2 * WIDTH // HEAD_WIDTH
    if HEADS_NAME.search(key) and not re.search("dim|size", key):
        return min(value, HEADS)
    if INNER_NAME.search(key):
        return min(value, INNER)
    if key == "embed_dim" and isinstance(settings.get("num_heads"), list | tuple):
        return 8 * settings["num_heads"][0]
    if WIDTH_NAME.search(key) and not NOT_WIDTH.search(key):
        return min(value, WIDTH)
    if re.search(r"image_size|img_size|input_resolution", key):
        patch = settings.get("patch_size", PATCH)
        if "depths" in settings and "window_size" in settings:
            return 4 * IMAGE  # so that the last stage still fills a window
        return IMAGE if isinstance(patch, int) and patch >= PATCH else 2 * IMAGE
    if key == "patch_size":
        return min(value, PATCH)
    if POSITIONS_NAME.search(key):
        return min(value, POSITIONS)
    return value


def _smaller_list(
    key: str, value: Any, settings: Mapping[str, Any], depth: int, widths: bool
) -> Any:
    kind = type(value)
    if not value:
        return value
    if all(isinstance(v, Mapping) for v in value):
        return kind(shrunk(v, key, widths) for v in value)
    if depth > LAYERS and len(value) == depth and not isinstance(value[0], list | tuple):
        chosen = value if all(v == value[0] for v in value) else _one_each(value)
        chosen = chosen[: max(LAYERS, len(set(chosen)))]
        return [_smaller(key[:-1], v, settings, 0, widths) for v in chosen]
    if not all(isinstance(v, int) and not isinstance(v, bool) for v in value):
        return value
    if key in IDS:
        return kind([IDS[key]])
    if re.search(r"depths?$|num_blocks|layers$", key) and not TOKEN_NAME.search(key):
        return kind(min(v, 2) for v in value)
    if key in ("image_size", "img_size") and not widths:
        return kind(v * 4 * IMAGE // min(value) for v in value)
    if not widths:
        return value
    if re.search(r"image_size|img_size", key):
        return kind(v * IMAGE // min(value) // PATCH * PATCH for v in value)  # whole patches
    if key == "patch_size":
        return kind(min(v, PATCH) for v in value)
    if re.search(r"conv_dim|hidden_dims", key):
        return kind(min(v, 16) for v in value)
    if re.search(r"hidden_sizes|embed_dims?$|encoder_hidden|dims$", key) and max(value) > WIDTH:
        by = 2 ** int(math.log2(max(1, min(value) / 16)))
        return kind(v // by for v in value)
    return value


def _one_each(value: Any) -> list[Any]:
    """The first of each different entry, in order, at least as many as layers."""
    chosen = list(dict.fromkeys(value))
    return chosen if len(chosen) >= LAYERS else list(value[:LAYERS])


def _rotary(value: Mapping[str, Any]) -> dict[str, Any]:
    new = {k: _rotary(v) if isinstance(v, Mapping) else v for k, v in value.items()}
    for key in ("mrope_section", "xdrope_section"):
        if isinstance(new.get(key), list):
            count = len(new[key])
            most = -(-(HEAD_WIDTH // 2) // count)
            new[key] = [most] * (count - 1) + [HEAD_WIDTH // 2 - most * (count - 1)]
    return new


# --- models ---------------------------------------------------------------------------------------


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silences the library's logging."""
    level = transformers.utils.logging.get_verbosity()
    transformers.utils.logging.set_verbosity(logging.CRITICAL)
    try:
        yield
    finally:
        transformers.utils.logging.set_verbosity(level)


def build(kind: ModelType, seed: int = 5, widths: bool = True) -> tuple[nn.Module, nn.Module]:
    """The model of a type, as the library builds it, and the same with eager attention.

    Args:
        kind: the model type.
        seed: of the weights.
        widths: as in `tiny_config`.

    Raises:
        ValueError: for a model that is not tiny.
        Exception: whatever config and model raise.
    """
    config = tiny_config(kind, widths)
    with quiet(), torch.random.fork_rng(devices=[]):
        _check_size(kind, config)
        torch.manual_seed(seed)
        eager_config = deepcopy(config)
        model = kind.model(config)
        redraw(model)
        eager_config._attn_implementation = "eager"
        eager = kind.model(eager_config)
        eager.load_state_dict(model.state_dict())
    return model.eval(), eager.eval()


def _check_size(kind: ModelType, config: PreTrainedConfig) -> None:
    try:
        with torch.device("meta"):
            network = kind.model(deepcopy(config))
    except Exception:  # some need numbers while they are built
        return
    count = sum(parameter.numel() for parameter in network.parameters())
    if count > MAX_PARAMETERS:
        raise ValueError(f"{count:,} parameters are not tiny")


def redraw(model: nn.Module) -> None:
    """Draws matrices and biases anew, wide enough that heads differ."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not parameter.is_floating_point() or not parameter.numel():
                continue
            if parameter.ndim >= 2:
                linear = isinstance(model.get_submodule(name.rpartition(".")[0]), nn.Linear)
                wide = "embed" in name and parameter.ndim == 2 and not linear
                fan = 4.0 if wide else float(parameter[0].numel())
                parameter.normal_(0.0, min(1.0, SPREAD / math.sqrt(max(fan, 1.0))))
            elif name.endswith(("bias", "sinks")) or bool((parameter == 0).all()):
                parameter.normal_(0.0, 0.3)
            elif "norm" in name.lower() and name.endswith("weight"):
                parameter.uniform_(0.7, 1.3)

"""Tiny models of the model types of transformers, from their default configs.

A config keeps its defaults but for its sizes: widths, depths, heads, vocabularies and windows are
cut by the names of their fields, in nested configs too.
"""

import importlib
import math
from collections.abc import Mapping
from typing import Any

import torch
import transformers
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from benchmarks.coverage.families import COMPOSED, SETTINGS

LAYERS, HEADS, VOCAB, WINDOW = 2, 4, 128, 4
SPREAD = 1.5  # of the weights: with less, heads look alike
HEAD_TABLES = {  # the library's tables of model classes, by what is on top of the network
    "base": "MODEL",
    "causal": "MODEL_FOR_CAUSAL_LM",
    "masked": "MODEL_FOR_MASKED_LM",
    "seq2seq": "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM",
    "speech": "MODEL_FOR_SPEECH_SEQ_2_SEQ",
    "image text": "MODEL_FOR_IMAGE_TEXT_TO_TEXT",
    "text classifier": "MODEL_FOR_SEQUENCE_CLASSIFICATION",
    "image classifier": "MODEL_FOR_IMAGE_CLASSIFICATION",
    "sound classifier": "MODEL_FOR_AUDIO_CLASSIFICATION",
    "video classifier": "MODEL_FOR_VIDEO_CLASSIFICATION",
    "detector": "MODEL_FOR_OBJECT_DETECTION",
    "segmentation": "MODEL_FOR_SEMANTIC_SEGMENTATION",
    "depth": "MODEL_FOR_DEPTH_ESTIMATION",
    "CTC": "MODEL_FOR_CTC",
}


def by_name(sizes: Mapping[int, str]) -> dict[str, int]:
    return {name: size for size, names in sizes.items() for name in names.split()}


DEPTHS = (
    "num_hidden_layers n_layer n_layers num_layers encoder_layers decoder_layers depth layers"
    " num_decoder_layers encoder_num_hidden_layers decoder_num_hidden_layers num_global_layers"
)
COUNTS = by_name(
    {
        LAYERS: f"{DEPTHS} num_experts_per_tok",
        1: "n_group topk_group",
        WINDOW: "sliding_window local_attention attention_chunk_size num_experts n_routed_experts"
        " num_local_experts num_query_tokens num_queries mm_tokens_per_image",
        VOCAB: "vocab_size decoder_vocab_size",
        512: "max_position_embeddings n_positions max_source_positions",
    }
)
WIDTHS = by_name(
    {
        64: "hidden_size d_model n_embd dim embed_dim embedding_size projection_dim out_hidden_size"
        " word_embed_proj_dim encoder_hidden_size encoder_hidden_dim decoder_hidden_size"
        " image_text_hidden_size projection_size pooler_output_size output_channels"
        " output_hidden_size reassemble_hidden_size projector_input_dim projector_output_dim"
        " iou_head_hidden_dim vision_output_dim auxiliary_channels",
        48: "intermediate_size d_ff encoder_ffn_dim decoder_ffn_dim ffn_dim hidden_dim mlp_dim"
        " moe_intermediate_size shared_expert_intermediate_size intermediate_size_mlp"
        " decoder_intermediate_size",
        24: "q_lora_rank kv_lora_rank",
        16: "head_dim d_kv v_head_dim linear_key_head_dim linear_value_head_dim",
        8: "qk_nope_head_dim qk_rope_head_dim patch_size",
        HEADS: "num_attention_heads n_head n_heads num_heads attention_heads linear_num_value_heads"
        " encoder_attention_heads decoder_attention_heads encoder_num_attention_heads"
        " decoder_num_attention_heads",
        2: "num_key_value_heads encoder_num_key_value_heads decoder_num_key_value_heads"
        " linear_num_key_heads",
        32: "image_size",
    }
)
DERIVED = ("stage_names", "out_features", "out_indices")  # from the depth
IDS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}


def classes_of(name: str) -> dict[str, type[PreTrainedModel]]:
    """The model classes of a type, by what is on top of the network.

    Raises:
        ValueError: for a type without a model class, or that the library does not have.
    """
    kind = COMPOSED[name][0] if name in COMPOSED else name
    if kind not in CONFIG_MAPPING:
        raise ValueError(f"{name}: transformers {transformers.__version__} has no such model type")
    config, classes = CONFIG_MAPPING[kind], {}
    for head, table in HEAD_TABLES.items():
        name_of_class = getattr(modeling_auto, f"{table}_MAPPING_NAMES").get(kind)
        if isinstance(name_of_class, tuple | list):
            name_of_class = name_of_class[0]
        chosen = getattr(transformers, name_of_class or "", None)
        if chosen not in (None, *classes.values()) and issubclass(config, chosen.config_class):
            classes[head] = chosen
    classes = classes or _unlisted(config)
    if not classes:
        raise ValueError(f"{name}: no model class is found for its config")
    return classes


def _unlisted(config: type[PreTrainedConfig]) -> dict[str, type[PreTrainedModel]]:
    """The class of a part of a network, that no table names."""
    module = importlib.import_module(config.__module__.replace(".configuration_", ".modeling_"))
    models = [each for each in vars(module).values() if "forward" in getattr(each, "__dict__", ())]
    kinds = [each for each in models if getattr(each, "config_class", None) is config]
    kinds.sort(key=lambda kind: ("For" in kind.__name__, len(kind.__name__)))
    return {"base": kinds[0]} if kinds else {}


def tiny_config(name: str, *, widths: bool = True) -> PreTrainedConfig:
    """The default config of a model type, shrunk.

    Args:
        name: of the model type.
        widths: shrink widths too; else only depths, vocabularies, experts and windows.
    """
    if name in COMPOSED:
        kind, *parts = COMPOSED[name]
        encoder, decoder = (tiny_config(part).to_dict() for part in parts)
        decoder |= {"is_decoder": True, "add_cross_attention": True}
        settings = {"pad_token_id": 0, "decoder_start_token_id": 1}
        make: Any = CONFIG_MAPPING[kind]
        return make(encoder=encoder, decoder=decoder, **settings)
    make = CONFIG_MAPPING[name]
    default = make()
    backbone = getattr(default, "backbone_config", None)
    if getattr(backbone, "model_type", "") == "timm_backbone":  # needs another package
        default = make(use_timm_backbone=False)
    return make.from_dict(shrunk(default.to_dict(), widths=widths))


def shrunk(settings: Mapping[str, Any], *, widths: bool) -> dict[str, Any]:
    """Settings with small numbers, of nested configs too."""
    staged = "depths" in settings  # a list of depths, to which others belong
    depths = [settings[name] for name in DEPTHS.split() if type(settings.get(name)) is int]
    depth = 0 if staged else max(depths, default=0)
    new = {name: value for name, value in settings.items() if staged or name not in DERIVED}
    for name, value in new.items():
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            new[name] = shrunk(value, widths=widths)
        elif isinstance(value, list | tuple) and len(value) == depth > LAYERS:
            new[name] = _one_each(value)
        elif type(value) is int and not (staged and name in DEPTHS.split()):
            new[name] = _small(name, value, settings, widths=widths)
    if isinstance(new.get("layer_types"), list) and "num_hidden_layers" in new:
        new["num_hidden_layers"] = len(new["layer_types"])
    new |= {name: value for name, value in IDS.items() if name in new}
    return new | SETTINGS.get(settings.get("model_type", ""), {})


def _small(name: str, value: Any, settings: Mapping[str, Any], *, widths: bool) -> int:
    sizes = COUNTS | WIDTHS if widths else COUNTS
    if name.endswith(("_token_id", "_token_index")) and value >= VOCAB:
        return VOCAB - 32 + sum(map(ord, name)) * 7 % 31
    if name.endswith("key_value_heads") and value == settings.get("num_attention_heads"):
        name = "num_attention_heads"
    return min(value, sizes.get(name, value))


def _one_each(values: Any) -> list[Any]:
    """The first of each different entry, at least as many as layers."""
    different = list(dict.fromkeys(values))
    return different if len(different) >= LAYERS else list(values[:LAYERS])


def build(name: str, head: str = "base", *, widths: bool = True, seed: int = 5) -> nn.Module:
    """A tiny model with random weights, in eval mode."""
    config, kinds = tiny_config(name, widths=widths), classes_of(name)
    kind: Any = kinds.get(head) or next(iter(kinds.values()))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind(config)
        redraw(model)
    return model.eval()


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

"""Loads transformers models from a folder, or wraps a module that is in memory.

The library builds the network from its own classes; every file is read here, so that nothing in
the folder can name code, kernels or other modules for it to fetch.
"""

import contextlib
import copy
import sys
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from transformers import PretrainedConfig, PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_MAPPING

from models.files.errors import CheckpointError, first_line
from models.files.fitting import check_fit, read_config
from models.files.folder import Folder, check_names, dtype_holding
from models.free_memory import read_weights
from models.inputs.generation import generation_config
from models.inputs.quiet import quiet_transformers
from models.inputs.sequences import text_config
from models.model import Model, class_names, is_multi_label
from models.preprocessing import patches_of, read_preprocessing, read_sound
from models.pretrained.attention_modules import AttentionModules
from models.pretrained.tokenizers import read_tokenizer
from models.prompting import GENERATION, PromptSettings, of_writing, read_prompting
from models.text import Tokenizer

# The library changes torch's own functions while it loads: of two models that load at a time, tied
# weights are reported missing.
_one_at_a_time = threading.Lock()
# Settings that make the library download or run something, or choose its kernels.
DROPPED = frozenset(
    {"auto_map", "transformers_weights", "custom_pipelines", "_commit_hash", "return_dict"}
    | {"attn_implementation", "_attn_implementation", "_attn_implementation_internal"}
    | {"experts_implementation", "_experts_implementation", "kernel_config", "fusion_config"}
    | {"distributed_config", "output_attentions", "output_hidden_states", "torchscript"}
    | {"name_or_path", "_name_or_path"}
)
QUANTIZATION = "quantization_config"
VIT = "google/vit-base-patch16-224"  # instead of a network of timm
OTHERS = "docs/coverage.md lists model types that are traced"
NO_WEIGHTS = ("position_ids", "inv_freq", "masked_bias", "attn.bias", "token_type_ids")


def load_folder(
    folder: Folder, name: str, *, dtype: torch.dtype | None = None, device: str = "cpu"
) -> Model:
    """Loads a folder with config.json and weights; tokenizer and preprocessing if present.

    Args:
        folder: of the checkpoint.
        name: of the model.
        dtype: of the weights; None means float32.
        device: where they are going to lie.

    Raises:
        CheckpointError: in one line, for a folder that is incomplete, damaged or unsafe, weights
            that do not fit the network or the machine, and networks that cannot be traced.
    """
    settings = read_config(folder)
    if settings is None:
        raise CheckpointError("config.json is missing: it defines the architecture")
    kind = _class_of(settings)
    dtype = torch.float32 if dtype is None else dtype
    state = read_weights(folder, dtype, device)
    config = _config(settings)
    if not folder.trusted:
        with quiet_transformers():
            check_fit(state, lambda: kind(copy.deepcopy(config)), settings)
    dtype = dtype_holding(state, dtype)
    network, left_out = _filled(kind, config, state, dtype)
    check_traceable(network)
    prompts = read_prompting(folder)
    _add_generation(network, folder, prompts)
    return _model(
        name,
        network,
        read_tokenizer(folder),
        folder,
        left_out=left_out,
        sound=read_sound(folder, network.config),
        prompts=prompts,
    )


def wrap_module(module: nn.Module) -> Model:
    """Wraps a transformers module that is in memory, or the one that a module contains.

    A compiled module contains the original one, which is traced.

    Raises:
        ValueError: if there is none or more than one, or it cannot be traced.
    """
    network = _contained(module)
    check_traceable(network)
    return _model(type(network).__name__, network, None, None)


def _model(
    name: str,
    network: PreTrainedModel,
    tokenizer: Tokenizer | None,
    folder: Folder | None,
    **more: Any,
) -> Model:
    config = network.config
    return Model(
        name,
        network,
        tokenizer,
        trained=True,
        preprocessing=read_preprocessing(folder, config),
        door="transformers",
        max_tokens=token_limit(network),
        classes=class_names(getattr(config, "id2label", None)),
        multi_label=is_multi_label(getattr(config, "problem_type", None)),
        **more,
    )


def _contained(module: nn.Module) -> PreTrainedModel:
    """The outermost transformers model of a module."""
    networks = [*_outermost(module)]
    if len(networks) == 1:
        return networks[0]
    received = type(module).__name__
    if networks:
        raise ValueError(
            f"{received} contains {len(networks)} models of transformers: load one of them"
        )
    if type(module).__module__.partition(".")[0] == "timm":
        received += f" of timm; load a ViT of transformers, such as {VIT!r}"
    raise ValueError(
        "expected a network of ours, an attention module of PyTorch or a model of transformers,"
        f" received {received}"
    )


def _outermost(module: nn.Module) -> Iterator[PreTrainedModel]:
    if isinstance(module, PreTrainedModel):
        yield module
    else:
        for child in module.children():
            yield from _outermost(child)


def check_traceable(network: PreTrainedModel) -> None:
    """Raises CheckpointError, with the reason, unless some attention uses the interface."""
    modules, name = AttentionModules.find_in(network), type(network).__name__
    if modules.modules:
        return
    family = network.config.model_type
    if not modules.untraceable:
        raise CheckpointError(f"{name} ({family}) has no attention layers")
    raise CheckpointError(
        f"{name} ({family}) does not go through transformers' attention interface:"
        f" {', '.join(modules.untraceable)} computes its weights itself and returns none. {OTHERS}"
    )


def token_limit(network: PreTrainedModel) -> int:
    """Maximum number of tokens; a million where positions are unbounded.

    For images, as many patches as the size it is built for comes to.
    """
    config = text_config(network.config)
    most = getattr(config, "max_position_embeddings", None)
    if not isinstance(most, int) or most < 1:
        patches = patches_of(config)
        return 10**6 if patches is None else patches
    for name, part in network.named_modules():
        if name.endswith("position_embeddings") and isinstance(part, nn.Embedding):
            return most if part.padding_idx is None else most - part.padding_idx - 1
    return most


# --- config ---------------------------------------------------------------------------------------


def _config(settings: Mapping[str, Any]) -> PretrainedConfig:
    """The library's config, without settings that download or run something."""
    try:
        return CONFIG_MAPPING[settings["model_type"]].from_dict(_plain(settings))
    except Exception as error:  # configs check themselves, each in its own way
        what = str(error).strip().splitlines() or [type(error).__name__]
        raise CheckpointError(f"config.json: {what[-1].strip():.160}") from error


def _class_of(settings: Mapping[str, Any]) -> type[PreTrainedModel]:
    """The model class of a config.json."""
    family, remote = settings.get("model_type"), "auto_map" in settings
    if not isinstance(family, str) or family not in CONFIG_MAPPING:
        if remote:
            raise CheckpointError(
                f"config.json asks to run code that comes with the model ({family!r}): refused;"
                " only architectures that are part of transformers can be opened"
            )
        raise CheckpointError(
            f"model_type: {family!r} is not an architecture of transformers"
            f" {transformers.__version__}"
        )
    if settings.get(QUANTIZATION):
        raise CheckpointError(
            "the weights are quantised (quantization_config): open the model's unquantised weights"
        )
    config = CONFIG_MAPPING[family]
    named = settings.get("architectures") or []
    if not isinstance(named, list):
        raise CheckpointError(f"architectures: expected names of classes, received {named!r:.40}")
    for name in named:
        kind: Any = getattr(transformers, name, None) if isinstance(name, str) else None
        fits = isinstance(kind, type) and issubclass(kind, PreTrainedModel)
        mine = getattr(kind, "config_class", None) is config
        if fits and mine and not name.endswith("PreTrainedModel"):
            return kind
    if config not in MODEL_MAPPING:
        raise CheckpointError(f"architectures: expected a model of type {family!r}, received none")
    classes: Any = MODEL_MAPPING[config]
    return classes[0] if isinstance(classes, tuple) else classes


def _plain(value: Any) -> Any:
    """Nested settings without the dropped ones."""
    if isinstance(value, Mapping):
        if {*value} == {"__float__"}:  # how the library writes infinity
            return float(value["__float__"])
        return {key: _plain(part) for key, part in value.items() if key not in DROPPED}
    return [_plain(part) for part in value] if isinstance(value, list) else value


# --- weights --------------------------------------------------------------------------------------


def _filled(
    kind: type[PreTrainedModel],
    config: PretrainedConfig,
    state: dict[str, Tensor],
    dtype: torch.dtype,
) -> tuple[PreTrainedModel, tuple[str, ...]]:
    """The network with exactly these weights."""
    try:
        with _one_at_a_time, quiet_transformers():
            loaded: Any = kind.from_pretrained(
                None,
                config=config,
                state_dict=state,
                dtype=dtype,
                ignore_mismatched_sizes=True,  # refused below, by name
                output_loading_info=True,
            )
            network, info = loaded
    except Exception as error:  # the library raises many things for weights that do not fit
        what = f"the weights do not fit {kind.__name__}: {first_line(error)}"
        raise CheckpointError(what) from error
    extra = [name for name in sorted(info["unexpected_keys"]) if not name.endswith(NO_WEIGHTS)]
    known = _of_other_heads(kind, config) if extra else frozenset()
    lacking = (name for name in info["missing_keys"] if "pooler" not in name)
    shapes = {name: (here, wanted) for name, here, wanted in info["mismatched_keys"]}
    check_names(kind.__name__, lacking, {*extra} - known, shapes)
    return network, tuple(extra)


def _of_other_heads(kind: type[PreTrainedModel], config: PretrainedConfig) -> frozenset[str]:
    """Names of the weights of every class of a model type, heads included."""
    module = sys.modules[kind.__module__]
    classes = [
        each
        for each in vars(module).values()
        if isinstance(each, type)
        and issubclass(each, PreTrainedModel)
        and each.__module__ == kind.__module__
        and each.config_class is kind.config_class
        and not each.__name__.endswith("PreTrainedModel")
    ]
    names: set[str] = set()
    for each in classes:
        with contextlib.suppress(Exception), torch.device("meta"), quiet_transformers():
            names |= {*each(copy.deepcopy(config)).state_dict()}  # some need other settings
    return frozenset(names)


def _add_generation(network: Any, folder: Folder, prompts: PromptSettings) -> None:
    """What the folder states of generation; its config alone does not replace the defaults."""
    if not network.can_generate():
        return
    stated = generation_config(prompts.generation)
    if folder.file(GENERATION) is None:
        stated.update(**of_writing(network.generation_config.to_dict()), defaults_only=True)
    network.generation_config = stated

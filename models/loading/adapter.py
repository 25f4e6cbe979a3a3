"""Low-rank adapters: a folder of small matrices, added to the weights of a base model.

LoRA keeps a base weight W and trains B A of rank r beside it. The adapted model runs with

    W' = W + s B A,    s = alpha / r,  or alpha / √r where the adapter is rank-stabilised

(Hu et al. 2021, arXiv:2106.09685; Kalajdzievski 2023, arXiv:2312.03732). DoRA scales the rows of W'
to the lengths m that it has learned: W'' = m W' / |W'| (Liu et al. 2024, arXiv:2402.09353). What an
adapter holds whole, such as the head of a classifier, takes the place of the base model's.
"""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from models.files import hub
from models.files.errors import CheckpointError
from models.files.folder import Folder, tensors

ADAPTER = "adapter_config.json"
FILES = ("adapter_model.safetensors", "adapter_model.bin")
PREFIX = "base_model.model."
# What ends an adapter's names of the parts of a module: A and B, and the lengths of DoRA.
PART = re.compile(r"(.+)\.lora_(A|B|embedding_A|embedding_B|magnitude_vector)(\.weight)?")
UNSUPPORTED = (  # settings that change more than a weight
    *("layer_replication", "target_parameters", "alora_invocation_tokens"),
    *("use_qalora", "lora_bias", "trainable_token_indices"),
)


def settings_of(folder: Folder) -> dict[str, Any] | None:
    """The settings of a folder's adapter; None if it holds none."""
    return folder.json(ADAPTER)


def base_of(settings: Mapping[str, Any]) -> Folder:
    """The folder of the model that an adapter was trained on.

    Raises:
        CheckpointError: in one line, if that is not on this machine.
    """
    name = settings.get("base_model_name_or_path")
    if not isinstance(name, str) or not name:
        raise CheckpointError(f"{ADAPTER} names no base model (base_model_name_or_path)")
    if Path(name).is_dir():
        return Folder.at(Path(name))
    cached = hub.cached_folder(name) if hub.HUB_ID.fullmatch(name) else None
    if cached is None:
        raise CheckpointError(
            f"this adapter belongs to the base model {name:.100}, which is not on this machine:"
            f" download it first, or write its folder into {ADAPTER}"
        )
    return cached


@torch.no_grad()
def add(network: nn.Module, folder: Folder, settings: Mapping[str, Any]) -> None:
    """Adds the adapter in a folder to the weights of a network, in place.

    Args:
        network: of the base model.
        folder: of the adapter.
        settings: see `settings_of`.

    Raises:
        CheckpointError: in one line, for an adapter of another kind, or one whose weights do not
            fit the network.
    """
    if settings.get("peft_type") != "LORA":
        raise CheckpointError(
            f"{ADAPTER}: expected an adapter of the type LORA, received"
            f" {settings.get('peft_type')!r:.40}: merge it with the library that made it"
        )
    for name in UNSUPPORTED:
        if settings.get(name):
            raise CheckpointError(f"{ADAPTER}: {name} is not supported: merge the adapter first")
    parts: dict[str, dict[str, Tensor]] = {}
    for name, tensor in _read(folder).items():
        part = PART.fullmatch(name)
        if part is not None:
            parts.setdefault(part[1], {})[part[2].removeprefix("embedding_")] = tensor
        else:
            path, _, last = name.rpartition(".")
            whole = getattr(_module(network, path), last, None)
            _place(whole, name, tensor.shape).copy_(tensor)
    for name, held in parts.items():
        _add(_module(network, name), name, held, settings)


def _read(folder: Folder) -> dict[str, Tensor]:
    """The tensors by the names of the base model, where a wrapped layer lies one module higher."""
    file = next((file for name in FILES if (file := folder.file(name)) is not None), None)
    if file is None:
        raise CheckpointError(f"{FILES[0]} is missing: there are no weights beside {ADAPTER}")
    return {
        name.removeprefix(PREFIX).replace(".base_layer.", "."): tensor
        for name, tensor in tensors(file).items()
    }


def _add(
    module: nn.Module, name: str, held: Mapping[str, Tensor], settings: Mapping[str, Any]
) -> None:
    weight = module.weight
    if not isinstance(weight, Tensor) or not {"A", "B"} <= {*held}:
        raise CheckpointError(f"the adapter of {name:.100} is incomplete")
    down, up = held["A"].float(), held["B"].float()
    rank = down.shape[0]
    scale = _alpha(name, settings) / (math.sqrt(rank) if settings.get("use_rslora") else rank)
    # (out × r) (r × in), where an "in" may be a patch of pixels
    change = scale * torch.einsum("or,r...->o...", up.flatten(1), down)
    # embeddings hold their weight as (in, out), and GPT-2 does
    swapped = isinstance(module, nn.Embedding) or type(module).__name__ == "Conv1D"
    base = _place(weight.T if swapped else weight, name, change.shape)
    changed = base.float() + change
    if "magnitude_vector" in held:
        if isinstance(module, nn.Embedding):
            raise CheckpointError(f"DoRA of the embedding {name:.100} is not supported")
        scales = held["magnitude_vector"].float().flatten() / changed.flatten(1).norm(dim=1)
        changed *= scales.view(-1, *[1] * (changed.dim() - 1))
    base.copy_(changed)


def _place(current: Any, name: str, shape: torch.Size) -> Tensor:
    if not isinstance(current, Tensor) or current.shape != shape:
        raise CheckpointError(
            f"the base model has no place for {name:.100} of the shape {tuple(shape)}"
        )
    return current


def _alpha(name: str, settings: Mapping[str, Any]) -> float:
    patterns: Mapping[str, Any] = settings.get("alpha_pattern") or {}
    for ending, alpha in patterns.items():
        if not re.fullmatch(r"[\w.]+", ending):  # an untrusted pattern could take forever to match
            raise CheckpointError(f"alpha_pattern: expected ends of names, received {ending!r:.60}")
        if f".{name}".endswith(f".{ending}"):
            return float(alpha)
    return float(settings.get("lora_alpha", 8))


def _module(network: nn.Module, path: str) -> nn.Module:
    """The module at an adapter's path, which may begin inside or outside the network's body."""
    prefix = f"{getattr(network, 'base_model_prefix', '')}."
    for candidate in (path, prefix + path, path.removeprefix(prefix)):
        try:
            return network.get_submodule(candidate)
        except AttributeError:
            continue
    raise CheckpointError(f"the base model has no place for {path:.100}")

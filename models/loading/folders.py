"""Loads checkpoint folders, through a converter into our networks or through transformers."""

import contextlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import Tensor

from models.cost import memory_check
from models.decoder import Decoder
from models.encoder import Encoder
from models.files.checkpoints import CONFIG, checkpoints_in
from models.files.errors import CheckpointError, first_line
from models.files.fitting import check_fit, read_config
from models.files.folder import Folder, dtype_holding, finite, tensors
from models.loading import adapter
from models.loading.convert import bert, llama, own, vit
from models.loading.convert.names import heads_in
from models.model import (
    Config,
    Door,
    Model,
    Network,
    class_names,
    grouped,
    is_multi_label,
)
from models.preprocessing import default_preprocessing, read_preprocessing
from models.prompting import read_prompting
from models.seeding import Undrawn
from models.text import FileTokenizer
from models.vit import ViT, ViTConfig

MOST_NAMES = 20  # of checkpoints in an error


class Family(NamedTuple):
    """Converter of one model type."""

    config: Callable[[Mapping[str, Any], Mapping[str, Tensor]], Any]
    weights: Callable[[Mapping[str, Tensor], Any], tuple[dict[str, Tensor], tuple[str, ...]]]
    network: Callable[[Any], Network]


FAMILIES = {
    "bert": Family(bert.config, bert.weights, Encoder),
    "vit": Family(vit.config, vit.weights, ViT),
    "llama": Family(llama.config, llama.weights, Decoder),
    "dinov2": Family(vit.config, vit.weights, ViT),
    **{n: Family(own.config, own.weights, network) for n, (_, network) in own.TYPES.items()},
}

ON_REQUEST = ("llama", "dinov2")  # which open through transformers unless door="own"


def from_folder(
    place: Folder,
    name: str,
    door: Door | None = None,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
) -> Model:
    """Loads a folder with config.json, weights, and tokenizers if present.

    Where no door is asked for and our converter refuses a setting it does not know, or our network
    has no place for the checkpoint's head, the library's own code opens the folder, if it can.

    Raises:
        CheckpointError: in one line, for a folder that cannot be opened.
    """
    try:
        settings = read_config(place)
        if settings is None:
            return _without_config(place, name, door, dtype, device)
        kind = str(settings.get("model_type"))
        family = FAMILIES.get(kind)
        if door == "own" and family is None:
            raise CheckpointError(
                f"door: there is no converter for model_type {kind!r}: expected"
                f" {' or '.join(FAMILIES)}"
            )
        theirs = door == "transformers" or (door is None and kind in ON_REQUEST)
        if family is None or (theirs and kind not in own.TYPES):
            return _through_library(place, name, dtype, device)
        if door == "own" or kind in own.TYPES:
            return _through_converter(place, name, family, settings)
        try:
            return _through_converter(place, name, family, settings, needs_head=True)
        except ValueError as refusal:
            with contextlib.suppress(CheckpointError):
                model = _through_library(place, name, dtype, device)
                return replace(model, door_reason=str(refusal))
            raise
    except ValueError as error:
        raise CheckpointError(f"{name}: {error}") from error
    except (TypeError, LookupError, AttributeError, ArithmeticError) as error:  # of other types
        what = first_line(error)
        raise CheckpointError(f"{name}: its files do not fit together ({what})") from error


def doors(place: Folder) -> tuple[Door, ...]:
    """The implementations that can open a folder with config.json."""
    kind = (place.json(CONFIG) or {}).get("model_type")
    if kind in own.TYPES:
        return ("own",)
    return ("own", "transformers") if kind in FAMILIES else ("transformers",)


def network_of(place: Folder) -> Callable[[Any], Network] | None:
    """Our network of the architecture of a folder with config.json; None where there is none."""
    family = FAMILIES.get(str((place.json(CONFIG) or {}).get("model_type")))
    return None if family is None else family.network


def _without_config(
    place: Folder,
    name: str,
    door: Door | None,
    dtype: torch.dtype | None,
    device: torch.device | None,
) -> Model:
    """The base model of an adapter's folder with the adapter in its weights."""
    settings = adapter.settings_of(place)
    if settings is None:
        inside = checkpoints_in(place.path)
        if not inside:
            raise CheckpointError("config.json is missing: it defines the architecture")
        names = ", ".join(inside[:MOST_NAMES]) + (", …" if len(inside) > MOST_NAMES else "")
        some = f"{len(inside)} checkpoint{'' if len(inside) == 1 else 's'}"
        raise CheckpointError(f"a folder of {some}, load one of them: {names}")
    if door == "own":
        raise CheckpointError("door: an adapter opens through transformers, as its base model does")
    merged = torch.float32 if dtype == torch.float16 else dtype  # whose range a sum may leave
    model = _through_library(adapter.base_of(settings), name, merged, device)
    adapter.add(model.network, place, settings)
    return model


def _through_library(
    place: Folder, name: str, dtype: torch.dtype | None, device: torch.device | None
) -> Model:
    from models.pretrained.loader import load_folder

    return load_folder(place, name, dtype=dtype, device=str(device or "cpu"))


def _through_converter(
    place: Folder,
    name: str,
    family: Family,
    settings: dict[str, Any],
    *,
    needs_head: bool = False,
) -> Model:
    """Our network with the folder's weights."""
    files = place.weights()
    memory_check.check_fits(files, torch.float32)
    state = {key: tensor for file in files for key, tensor in tensors(file).items()}
    config = family.config(settings, state)
    state, left_out = family.weights(state, config)
    if needs_head and (heads := heads_in(left_out)):
        raise ValueError(f"Headscope’s own network has no place for {grouped(heads)}")
    if not place.trusted:
        check_fit(state, lambda: family.network(config), settings)
    network = _filled(family.network, config, state)
    options = place.json("tokenizer_config.json") or {}
    reads, writes = (
        None if file is None else FileTokenizer(file, options, trusted=place.trusted)
        for file in map(place.file, ("tokenizer.json", "target_tokenizer.json"))
    )
    preprocessing = None
    if isinstance(config, ViTConfig):
        kind, sides = settings["model_type"], {"image_size": config.image}
        stated = SimpleNamespace(model_type=kind, patch_size=config.patch, **sides)
        ours = kind in own.TYPES
        preprocessing = default_preprocessing(config) if ours else read_preprocessing(place, stated)
    classes, questions = _classes(settings)
    return Model(
        name,
        network,
        reads,
        True,
        left_out,
        preprocessing,
        writes,
        prompts=read_prompting(place),
        classes=classes,
        multi_label=is_multi_label(settings.get("problem_type")),
        questions=questions,
    )


def _classes(settings: dict[str, Any]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """A name for each class, and how many of them belong to each question of several.

    Names that answer two questions are followed by theirs.
    """
    asked = settings.get("questions") or []
    if not asked:
        return class_names(settings.get("id2label")), ()
    try:
        pairs = [(name, question["title"]) for question in asked for name in question["classes"]]
        sizes = tuple(len(question["classes"]) for question in asked)
    except (KeyError, TypeError) as error:
        raise CheckpointError(f"{CONFIG}: expected questions with a title and classes") from error
    many = Counter(name for name, _ in pairs)
    names = tuple(f"{name} ({of})" if many[name] > 1 else name for name, of in pairs)
    return names, sizes if len(sizes) > 1 else ()


def _filled(make: Callable[[Any], Network], config: Config, state: dict[str, Tensor]) -> Network:
    """A network with these weights, without initialising random ones first."""
    with Undrawn():
        network = make(config)
    shapes = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    missing, unknown = (sorted(a.keys() - b.keys()) for a, b in ((shapes, state), (state, shapes)))
    if missing or unknown:
        raise ValueError(
            f"expected the weights of this network; missing are {missing[:5]}, it has no place"
            f" for {unknown[:5]}"
        )
    for name, shape in shapes.items():
        if state[name].shape != shape:
            raise ValueError(f"{name}: expected {shape}, received {tuple(state[name].shape)}")
    damaged = next((name for name, tensor in state.items() if not finite(tensor)), None)
    if damaged is not None:
        raise ValueError(f"{damaged} holds NaN or infinity: the weights are damaged")
    if dtype_holding(state, torch.float32) != torch.float32:
        raise ValueError("the weights are beyond the range of float32")
    whole = {name: tensor.to(torch.float32) for name, tensor in state.items()}
    network.load_state_dict(whole, assign=True)
    return network

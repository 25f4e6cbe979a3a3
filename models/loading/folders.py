"""Loads checkpoint folders, through a converter into our networks or through transformers."""

import contextlib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from models.files.errors import CheckpointError, first_line
from models.files.fitting import check_fit, read_config
from models.files.folder import CONFIG, Folder, check_names, dtype_holding
from models.free_memory import read_weights
from models.loading import adapter
from models.loading.convert.families import FAMILIES, heads_in
from models.model import (
    BUILT,
    TYPES,
    Config,
    Door,
    Model,
    Network,
    class_names,
    config_of,
    grouped,
    is_multi_label,
)
from models.preprocessing import default_preprocessing, read_preprocessing
from models.prompting import read_prompting
from models.seeding import Undrawn
from models.text import FileTokenizer
from models.vit import ViTConfig

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

    def by_library(folder: Folder = place, dtype: torch.dtype | None = dtype) -> Model:
        from models.pretrained.loader import load_folder

        return load_folder(folder, name, dtype=dtype, device=str(device or "cpu"))

    try:
        settings = read_config(place)
        kind = str((settings or {}).get("model_type"))
        if settings is None:
            added = _adapter_in(place, door)
            # a sum of weights may leave the range of float16
            merged = torch.float32 if dtype == torch.float16 else dtype
            model = by_library(adapter.base_of(added), merged)
            adapter.add(model.network, place, added)
            return model
        if door == "own" or kind in TYPES:
            return _through_converter(place, name, settings)
        if door is None and kind in FAMILIES and kind not in ON_REQUEST:
            try:
                return _through_converter(place, name, settings, needs_head=True)
            except ValueError as refusal:
                with contextlib.suppress(CheckpointError):
                    return replace(by_library(), door_reason=str(refusal))
                raise
        return by_library()
    except ValueError as error:
        raise CheckpointError(f"{name}: {error}") from error
    except (TypeError, LookupError, AttributeError, ArithmeticError) as error:  # of other types
        what = first_line(error)
        raise CheckpointError(f"{name}: its files do not fit together ({what})") from error


def doors(place: Folder) -> tuple[Door, ...]:
    """The implementations that can open a folder with config.json."""
    kind = (place.json(CONFIG) or {}).get("model_type")
    if kind in TYPES:
        return ("own",)
    return ("own", "transformers") if kind in FAMILIES else ("transformers",)


def network_of(place: Folder) -> Callable[[Any], Network] | None:
    """Our network of the architecture of a folder with config.json; None where there is none."""
    family = FAMILIES.get(str((place.json(CONFIG) or {}).get("model_type")))
    return None if family is None else BUILT[family.config][1]


def _adapter_in(place: Folder, door: Door | None) -> dict[str, Any]:
    """The settings of the adapter in a folder without config.json."""
    settings = adapter.settings_of(place)
    if settings is None:
        raise CheckpointError("config.json is missing: it defines the architecture")
    if door == "own":
        raise CheckpointError("door: an adapter opens through transformers, as its base model does")
    return settings


def _through_converter(
    place: Folder, name: str, settings: dict[str, Any], *, needs_head: bool = False
) -> Model:
    """Our network with the folder's weights."""
    kind, left_out = str(settings.get("model_type")), ()
    family = FAMILIES.get(kind)
    if family is None and kind not in TYPES:
        known = " or ".join(FAMILIES)
        raise ValueError(f"door: there is no converter for model_type {kind!r}: expected {known}")
    state = read_weights(place, torch.float32)
    if family is None:
        config: Any = config_of(settings)
    else:
        config = family.config_of(settings, state)
        state, left_out = family.weights_of(state, config)
    if needs_head and (heads := heads_in(left_out)):
        raise ValueError(f"Headscope’s own network has no place for {grouped(heads)}")
    make: Callable[[Any], Network] = BUILT[type(config)][1]
    if not place.trusted:
        check_fit(state, lambda: make(config), settings)
    network = _filled(make, config, state)
    options = place.json("tokenizer_config.json") or {}
    reads, writes = (
        None if file is None else FileTokenizer(file, options, trusted=place.trusted)
        for file in map(place.file, ("tokenizer.json", "target_tokenizer.json"))
    )
    preprocessing = None
    if isinstance(config, ViTConfig):
        stated = {"model_type": kind, "patch_size": config.patch, "image_size": config.image}
        preprocessing = (
            default_preprocessing(config)
            if family is None
            else read_preprocessing(place, SimpleNamespace(**stated))
        )
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
    pairs = [(name, question["title"]) for question in asked for name in question["classes"]]
    many = Counter(name for name, _ in pairs)
    names = tuple(f"{name} ({of})" if many[name] > 1 else name for name, of in pairs)
    return names, tuple(len(question["classes"]) for question in asked) if len(asked) > 1 else ()


def _filled(make: Callable[[Any], Network], config: Config, state: dict[str, Tensor]) -> Network:
    """A network with these weights, without initialising random ones first."""
    with Undrawn():
        network = make(config)
    shapes = {name: tensor.shape for name, tensor in network.state_dict().items()}
    here = {name: tensor.shape for name, tensor in state.items()}
    both = shapes.keys() & here.keys()
    wrong = {name: (here[name], shapes[name]) for name in both if here[name] != shapes[name]}
    kind = type(network).__name__
    check_names(kind, shapes.keys() - both, here.keys() - both, wrong)
    if dtype_holding(state, torch.float32) != torch.float32:
        raise ValueError("the weights are beyond the range of float32")
    whole = {name: tensor.to(torch.float32) for name, tensor in state.items()}
    network.load_state_dict(whole, assign=True)
    return network

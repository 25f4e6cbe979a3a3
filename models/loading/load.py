"""`load`: a `Model` from the catalogue, the hub, a folder, a config, or a module."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from models.catalogue import catalogue, entry, is_here, verify
from models.fetch import fetch, progress_bar
from models.files.errors import FetchError
from models.files.folder import Folder, dtype_holding
from models.layer import AttentionLayerConfig
from models.loading.convert import torch_modules
from models.loading.folders import from_folder
from models.model import BUILT, Config, Door, Model, Network
from models.preprocessing import default_preprocessing
from models.pretrained.tokenizers import tokenizer_of
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.ssru import Translator, TranslatorConfig
from models.structure import evaluating
from models.text import WordTokenizer
from models.vector_encoder import VectorEncoderConfig
from models.vit import ViT, ViTConfig

__all__ = ["Config", "Model", "Network", "as_model", "devices", "load"]

Source = str | Path | Config | Network


def devices() -> tuple[str, ...]:
    """Devices of this machine: "cpu" and, where present, "cuda" and "mps"."""
    here = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    return ("cpu", *(name for name, present in here.items() if present))


def load(
    source: Source | Model | nn.Module,
    *,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    dtype: torch.dtype | str | None = None,
    door: Door | None = None,
) -> Model:
    """Loads a model for tracing.

    Args:
        source: a name of the catalogue, a folder with config.json and weights, the id of a model on
            the hub (owner/name; fetched once, behind a bar that says its size), a config of ours
            (random weights from its seed), or a network, ours or of transformers, that is already
            in memory, alone, compiled or inside a module (put in eval mode; whoever made it knows
            whether it was trained). A MultiheadAttention, TransformerEncoderLayer or
            TransformerEncoder of torch.nn, which reads vectors, opens as a `VectorEncoder` with a
            copy of its weights.
        tokenizer: reads text for the model, of an encoder–decoder both sides: a tokenizer of
            transformers, a folder with one, a tokenizer.json, or an object of the protocol
            `models.text.Tokenizer`. None means the one that comes with the source; a config of ours
            gets the `WordTokenizer`.
        device: "cpu", "cuda" or "mps"; None leaves it where it is.
        dtype: of the weights, also by name ("bfloat16"); None leaves it. Weights beyond its range
            are loaded in the next wider one, with a warning.
        door: "own" is the network of this project, "transformers" the library's own code, through
            its attention interface; None means own where there is a converter and the network has
            a place for the checkpoint's head; Llama and DINOv2 open so on request only.

    Raises:
        CheckpointError: for files that are missing, altered or of an unknown kind.
        FetchError: for a model that cannot be fetched.
        ValueError: for a source, tokenizer, device or door that is not there.
    """
    if door not in (None, "own", "transformers"):
        raise ValueError(f"door: expected 'own' or 'transformers', received {door!r}")
    dtype = _dtype(dtype) if isinstance(dtype, str) else dtype
    target = None if device is None else _device(device)
    model = _model_of(source, door, dtype, target)
    if tokenizer is not None:
        text_tokenizer = tokenizer_of(tokenizer)
        both = isinstance(model.network, Seq2Seq | Translator)
        model = replace(
            model, tokenizer=text_tokenizer, target_tokenizer=text_tokenizer if both else None
        )
    model.network.eval()
    if dtype is not None:
        wider = dtype_holding(model.network.state_dict(), dtype)
        if wider != dtype:
            names = (str(each).removeprefix("torch.") for each in (dtype, wider))
            line = "{} has weights beyond the range of {}: they are loaded as {}"
            warnings.warn(line.format(model.name, *names), stacklevel=2)
            dtype = wider
    if target is not None or dtype is not None:
        model.network.to(device=target, dtype=dtype)
    return model


def _dtype(name: str) -> torch.dtype:
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise ValueError(f"dtype: expected 'float32', 'bfloat16' or 'float16', received {name!r}")
    return dtype


def as_model(source: Source | Model | nn.Module) -> Model:
    """The source as a `Model`: of a network in training mode, a copy as `evaluating` makes it."""
    model = _model_of(source)
    network = evaluating(model.network)
    return model if network is model.network else replace(model, network=network)


def _model_of(
    source: Source | Model | nn.Module,
    door: Door | None = None,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
) -> Model:
    """The source as a `Model`; the options apply to folders only."""
    if isinstance(source, Model):
        return source
    if isinstance(source, Network):
        preprocessing = default_preprocessing(source.config) if isinstance(source, ViT) else None
        return Model(type(source).__name__, source, None, trained=True, preprocessing=preprocessing)
    if isinstance(source, Config):
        return _built(source)
    if isinstance(source, nn.Module):
        return _in_memory(source)
    if not (isinstance(source, str | Path) and str(source).strip()):
        kinds = "a name of the catalogue, a folder, a config or a network"
        what = repr(source) if isinstance(source, str | Path) else type(source).__name__
        raise ValueError(f"source: expected {kinds}, received {what}")
    known = next((each for each in catalogue() if each.name == source), None)
    if known is not None:
        with progress_bar(known.title, known.download if not is_here(known) else 0) as bar:
            fetched = fetch(known, progress=bar)
        verify(known, fetched)
        return from_folder(Folder.at(fetched, trusted=True), known.title, door, dtype, device)
    given, path = str(source), Path(source)
    if path.is_dir():
        return from_folder(Folder.at(path), path.name, door, dtype, device)
    if isinstance(source, Path) or given.startswith((".", "~", "/")):
        raise ValueError(f"there is no folder {given!r}")
    return from_folder(_of_hub(given), given, door, dtype, device)


def _of_hub(name: str) -> Folder:
    """The folder of a model of the hub, which is downloaded if it is not cached.

    Raises:
        FetchError: if it cannot be downloaded.
        ValueError: for a name that is no id of the hub, as one that `catalogue.entry` lacks.
    """
    from models.files import hub

    cached = hub.cached_folder(name)
    if cached is not None:
        return cached
    try:
        if "/" not in name:
            entry(name)  # which says what there is
        plan = hub.plan_download(name)
        with progress_bar(name, plan.size) as bar:
            return hub.download(plan, progress=bar)
    except FetchError as error:
        raise FetchError(f"{name!r} is not a local folder, and {error}") from error
    except ValueError as error:
        raise ValueError(f"{error}; a folder or owner/name on the hub opens as well") from error


def _in_memory(module: nn.Module) -> Model:
    """A compiled network of ours, or a module of PyTorch or transformers."""
    inside = [part for part in module.children() if isinstance(part, Network)]
    if len(inside) == 1 and len(list(module.children())) == 1:
        return _model_of(inside[0])
    if torch_modules.is_torch(module):
        plain = torch_modules.original(module)
        return Model(type(plain).__name__, torch_modules.converted(plain), None, trained=True)
    from models.pretrained.loader import wrap_module

    try:
        return wrap_module(module)
    except ValueError as error:
        paths = torch_modules.paths_in(module)
        if not paths:
            raise
        raise ValueError(f"{error}; its {', '.join(paths)} can be loaded alone") from error


def _built(config: Config) -> Model:
    """A network with random weights."""
    kind, network = BUILT[type(config)]
    width = config.width if isinstance(config, ViTConfig) else config.dim
    reads, writes = _words(config)
    return Model(
        f"{kind}, {config.depth} × {config.heads} heads, width {width}",
        network(config),
        reads,
        trained=False,
        preprocessing=default_preprocessing(config) if isinstance(config, ViTConfig) else None,
        target_tokenizer=writes,
    )


def _words(config: Config) -> tuple[WordTokenizer | None, WordTokenizer | None]:
    """What reads words for a network and for its targets."""
    if isinstance(config, ViTConfig | VectorEncoderConfig):
        return None, None
    if isinstance(config, Seq2SeqConfig):
        taken = 1 + max(config.padding, config.begin, config.end)
        source, target = config.source_vocab, config.target_vocab
        sides = (WordTokenizer(v, reserved=min(taken, v - 1)) for v in (source, target))
        return next(sides), next(sides)
    taken = min(config.end + 1, config.vocab - 1) if isinstance(config, TranslatorConfig) else 0
    words = WordTokenizer(config.vocab, reserved=taken)
    return words, words if isinstance(config, TranslatorConfig | AttentionLayerConfig) else None


def _device(device: str | torch.device) -> torch.device:
    chosen = torch.device(device)
    if chosen.type not in devices():
        raise ValueError(f"device: expected one of {', '.join(devices())}, received {device}")
    return chosen

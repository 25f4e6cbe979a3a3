"""`load`: a `Model` from the catalogue, the hub, a folder, a config, or a module."""

import warnings
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import torch
from torch import nn

from models.catalogue import catalogue, entry, folder, is_here, verify
from models.decoder import Decoder, DecoderConfig
from models.encoder import Encoder, EncoderConfig
from models.eval_mode import evaluating
from models.fetch import fetch_with_bar
from models.files.folder import Folder, dtype_holding
from models.layer import AttentionLayer, AttentionLayerConfig
from models.loading.convert import torch_modules
from models.loading.folders import from_folder
from models.loading.tokenizers import tokenizer_of
from models.model import Config, Door, Model, Network
from models.preprocessing import default_preprocessing
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.smallest import Smallest, SmallestConfig
from models.ssru import Translator, TranslatorConfig
from models.text import WordTokenizer
from models.vector_encoder import VectorEncoder, VectorEncoderConfig
from models.vit import ViT, ViTConfig

__all__ = ["Config", "Model", "Network", "as_model", "devices", "load"]

Source = str | Path | Config | Network


def devices() -> tuple[str, ...]:
    """Devices of this machine: "cpu" and, where present, "cuda" and "mps"."""
    names = ["cpu"]
    if torch.cuda.is_available():
        names.append("cuda")
    if torch.backends.mps.is_available():
        names.append("mps")
    return tuple(names)


def load(
    source: Source | Model | nn.Module,
    *,
    tokenizer: Any = None,
    device: str | torch.device | None = None,
    dtype: torch.dtype | None = None,
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
        dtype: of the weights; None leaves it. Weights beyond its range are loaded in the next wider
            one, with a warning.
        door: "own" is the network of this project, "transformers" the library's own code, through
            its attention interface; None means own where there is a converter and the network has
            a place for the checkpoint's head; Llama and DINOv2 open so on request only.

    Raises:
        CheckpointError: for files that are missing, altered or of an unknown kind.
        HubError: for a model that cannot be fetched.
        ValueError: for a source, tokenizer, device or door that is not there.
    """
    if door not in (None, "own", "transformers"):
        raise ValueError(f"door: expected 'own' or 'transformers', received {door!r}")
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
    names = [known.name for known in catalogue()]
    if source in names:
        known = entry(str(source))
        path = folder(known) if is_here(known) or not known.download else fetch_with_bar(known)
        verify(known, path)
        return from_folder(Folder.at(path, trusted=True), known.title, door, dtype, device)
    place = _folder(source)
    if place is None:
        given = str(source)
        if isinstance(source, Path) or given.startswith((".", "~", "/")):
            raise ValueError(f"there is no folder {given!r}")
        near = get_close_matches(given, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ValueError(
            f"expected a folder or one of {', '.join(names)}, received {given!r}{hint}"
        )
    name = place.path.name if Path(source).is_dir() else str(source)
    return from_folder(place, name, door, dtype, device)


def _folder(source: str | Path) -> Folder | None:
    """The folder of a source: a local one, or a hub model, downloaded if not cached."""
    path = Path(source)
    if path.is_dir():
        return Folder.at(path)
    from models.files import hub

    if not isinstance(source, str) or not hub.HUB_ID.fullmatch(source):
        return None
    folder = hub.cached_folder(source)
    if folder is not None or "/" not in source:
        return folder
    try:
        return hub.download_with_bar(source)
    except hub.HubError as error:
        raise hub.HubError(f"{source!r} is not a local folder, and {error}") from error


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
    width = config.width if isinstance(config, ViTConfig) else config.dim
    sizes = f"{config.depth} × {config.heads} heads, width {width}"
    match config:
        case EncoderConfig():
            words = WordTokenizer(config.vocab)
            return Model(f"encoder, {sizes}", Encoder(config), words, trained=False)
        case DecoderConfig():
            words = WordTokenizer(config.vocab)
            return Model(f"decoder, {sizes}", Decoder(config), words, trained=False)
        case Seq2SeqConfig():
            taken = 1 + max(config.padding, config.begin, config.end)
            words = WordTokenizer(config.source_vocab, reserved=min(taken, config.source_vocab - 1))
            theirs = WordTokenizer(
                config.target_vocab, reserved=min(taken, config.target_vocab - 1)
            )
            network = Seq2Seq(config)
            return Model(
                f"encoder–decoder, {sizes}", network, words, False, target_tokenizer=theirs
            )
        case TranslatorConfig():
            words = WordTokenizer(config.vocab, reserved=min(config.end + 1, config.vocab - 1))
            network = Translator(config)
            return Model(f"translator, {sizes}", network, words, False, target_tokenizer=words)
        case SmallestConfig():
            words = WordTokenizer(config.vocab)
            return Model(f"smallest transformer, {sizes}", Smallest(config), words, trained=False)
        case AttentionLayerConfig():
            words = WordTokenizer(config.vocab)
            layer = AttentionLayer(config)
            return Model(f"attention layer, {sizes}", layer, words, False, target_tokenizer=words)
        case VectorEncoderConfig():
            return Model(f"encoder of vectors, {sizes}", VectorEncoder(config), None, trained=False)
        case ViTConfig():
            return Model(
                f"ViT, {sizes}",
                ViT(config),
                None,
                False,
                preprocessing=default_preprocessing(config),
            )


def _device(device: str | torch.device) -> torch.device:
    chosen = torch.device(device)
    if chosen.type not in devices():
        raise ValueError(f"device: expected one of {', '.join(devices())}, received {device}")
    return chosen

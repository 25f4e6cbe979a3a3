"""Models made ready to be traced: from the catalogue, a folder, a config, or memory."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from models.catalogue import CheckpointError, catalogue, entry, folder, verify
from models.convert import bert, own, vit
from models.decoder import Decoder, DecoderConfig
from models.encoder import Encoder, EncoderConfig
from models.look import Look, look_of, read_look
from models.seeding import Undrawn
from models.seq2seq import Seq2Seq, Seq2SeqConfig
from models.simple import Smallest, SmallestConfig
from models.text import FileTokenizer, Tokenizer, WordTokenizer
from models.vit import ViT, ViTConfig

Network = Encoder | Decoder | Seq2Seq | ViT | Smallest
Config = EncoderConfig | DecoderConfig | Seq2SeqConfig | ViTConfig | SmallestConfig
Source = str | Path | Config | Network


class Family(NamedTuple):
    """How checkpoints of one type become networks of ours."""

    config: Callable[[Mapping[str, Any], Mapping[str, Tensor]], Any]
    weights: Callable[[Mapping[str, Tensor], Any], tuple[dict[str, Tensor], tuple[str, ...]]]
    network: Callable[[Any], Network]


FAMILIES = {
    "bert": Family(bert.config, bert.weights, Encoder),
    "vit": Family(vit.config, vit.weights, ViT),
    **{name: Family(own.config, own.weights, made) for name, (_, made) in own.TYPES.items()},
}


@dataclass(frozen=True, eq=False)
class Model:
    """A network that is ready to be traced.

    Attributes:
        name: what views call it.
        network: the module, in eval mode.
        tokenizer: turns text into ids; None if the model only reads ids.
        trained: whether the weights come from training or from a seed.
        left_out: weights of the checkpoint that are no part of the network.
        look: how it wants its images; None if it reads text.
        target_tokenizer: turns text into ids for the decoder of an encoder–decoder; None if it
            only reads ids there.
    """

    name: str
    network: Network
    tokenizer: Tokenizer | None
    trained: bool
    left_out: tuple[str, ...] = field(default=(), repr=False)
    look: Look | None = None
    target_tokenizer: Tokenizer | None = None

    @property
    def limit(self) -> int:
        """The most tokens it reads; for images, what the size it is built for comes to."""
        config = self.network.config
        return config.tokens if isinstance(config, ViTConfig) else config.max_tokens

    @property
    def device(self) -> torch.device:
        return next(self.network.parameters()).device


def devices() -> tuple[str, ...]:
    """What this machine can run on: "cpu" and, where present, "cuda" and "mps"."""
    found = ["cpu"]
    if torch.cuda.is_available():
        found.append("cuda")
    if torch.backends.mps.is_available():
        found.append("mps")
    return tuple(found)


def load(
    source: Source | Model,
    *,
    tokenizer: Tokenizer | str | Path | None = None,
    device: str | torch.device | None = None,
    dtype: torch.dtype | None = None,
    door: Literal["own"] | None = None,
) -> Model:
    """Makes a model ready to be traced.

    Args:
        source: a name of the catalogue, a folder with config.json and model.safetensors, a config
            of ours (random weights from its seed), or a network that is already in memory
            (put in eval mode; whoever made it knows whether it was trained).
        tokenizer: reads text for the model, of an encoder–decoder both sides; a tokenizer.json or
            an object. None means the one that comes with the source; a config of ours gets the
            `WordTokenizer`.
        device: "cpu", "cuda" or "mps"; None leaves it where it is.
        dtype: of the weights; None leaves it.
        door: "own" is the network of this project.

    Raises:
        CheckpointError: for files that are missing, altered or of an unknown kind.
        ValueError: for a source, device or door that is not there.
    """
    if door not in (None, "own"):
        raise ValueError(f"door: expected 'own', received {door!r}")
    target = None if device is None else _device(device)
    model = as_model(source)
    if tokenizer is not None:
        own = FileTokenizer(Path(tokenizer)) if isinstance(tokenizer, str | Path) else tokenizer
        both = isinstance(model.network, Seq2Seq)
        model = replace(model, tokenizer=own, target_tokenizer=own if both else None)
    model.network.eval()
    if target is not None or dtype is not None:
        model.network.to(device=target, dtype=dtype)
    return model


def as_model(source: Source | Model) -> Model:
    """The source as a model, where it is and as it is."""
    if isinstance(source, Model):
        return source
    if isinstance(source, Network):
        look = look_of(source.config) if isinstance(source, ViT) else None
        return Model(type(source).__name__, source, None, trained=True, look=look)
    if isinstance(source, Config):
        return _built(source)
    names = [known.name for known in catalogue()]
    if source in names:
        known = entry(str(source))
        path = folder(known)
        verify(known, path)
        return _from_folder(path, known.title)
    path = Path(source)
    if not path.is_dir():
        raise ValueError(
            f"expected a folder or one of {', '.join(names)}, received {str(source)!r}"
        )
    return _from_folder(path, path.name)


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
        case SmallestConfig():
            words = WordTokenizer(config.vocab)
            return Model(f"smallest transformer, {sizes}", Smallest(config), words, trained=False)
        case ViTConfig():
            return Model(f"ViT, {sizes}", ViT(config), None, False, look=look_of(config))


def _from_folder(path: Path, name: str) -> Model:
    """A folder with config.json, model.safetensors and what tokenizers there are."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        settings = json.loads((path / "config.json").read_text(encoding="utf-8"))
        state = load_file(path / "model.safetensors")
    except FileNotFoundError as error:
        lost = Path(error.filename or "model.safetensors").name  # safetensors does not say which
        raise CheckpointError(f"{name}: {lost} is missing") from error
    except (ValueError, SafetensorError, OSError) as error:
        raise CheckpointError(f"{name}: unreadable checkpoint: {error}") from error
    if not isinstance(settings, dict):
        raise CheckpointError(f"{name}: config.json: expected an object, received {settings!r:.40}")
    family = FAMILIES.get(str(settings.get("model_type")))
    if family is None:
        raise CheckpointError(
            f"{name}: expected a checkpoint of type {' or '.join(FAMILIES)},"
            f" received {settings.get('model_type')!r}"
        )
    try:
        config = family.config(settings, state)
        state, left_out = family.weights(state, config)
        network = _filled(family.network, config, state)
        files = (path / "tokenizer.json", path / "target_tokenizer.json")
        reads, writes = (FileTokenizer(file) if file.is_file() else None for file in files)
        look = read_look(path, config) if isinstance(config, ViTConfig) else None
    except ValueError as error:
        raise CheckpointError(f"{name}: {error}") from error
    return Model(name, network, reads, True, left_out, look, writes)


def _filled(make: Callable[[Any], Network], config: Config, state: dict[str, Tensor]) -> Network:
    """A network round these weights, without drawing random ones first."""
    with Undrawn():
        network = make(config)
    for name, parameter in network.named_parameters():
        if state[name].shape != parameter.shape:
            raise ValueError(
                f"{name}: expected {tuple(parameter.shape)}, received {tuple(state[name].shape)}"
            )
    whole = {name: tensor.to(torch.float32) for name, tensor in state.items()}
    network.load_state_dict(whole, assign=True)
    return network


def _device(device: str | torch.device) -> torch.device:
    chosen = torch.device(device)
    if chosen.type not in devices():
        raise ValueError(f"device: expected one of {', '.join(devices())}, received {device}")
    return chosen

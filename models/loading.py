"""Models made ready to be traced: from the catalogue, a folder, a config, or memory."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from models import room
from models.catalogue import CheckpointError, catalogue, entry, folder, verify
from models.convert import bert, vit
from models.encoder import Encoder, EncoderConfig
from models.look import Look, look_of, read_look
from models.safe import Folder, tensors
from models.seeding import Undrawn
from models.text import FileTokenizer, Tokenizer, WordTokenizer
from models.vit import ViT, ViTConfig

Network = Encoder | ViT
Source = str | Path | EncoderConfig | ViTConfig | Network


class Family(NamedTuple):
    """How checkpoints of one type become networks of ours."""

    config: Callable[[Mapping[str, Any], Mapping[str, Tensor]], Any]
    weights: Callable[[Mapping[str, Tensor], Any], tuple[dict[str, Tensor], tuple[str, ...]]]
    network: Callable[[Any], Network]


FAMILIES = {
    "bert": Family(bert.config, bert.weights, Encoder),
    "vit": Family(vit.config, vit.weights, ViT),
}


@dataclass(frozen=True, eq=False)
class Model:
    """A network that is ready to be traced.

    Attributes:
        name: what views call it.
        network: the module, in eval mode: one of ours, or the library's own.
        tokenizer: turns text into ids; None if the model only reads ids.
        trained: whether the weights come from training or from a seed.
        left_out: weights of the checkpoint that are no part of the network.
        look: how it wants its images; None if it reads text.
        door: whose code the network is: "own", or "transformers".
        most: the most tokens it reads, where its config does not say so.
    """

    name: str
    network: Any
    tokenizer: Tokenizer | None
    trained: bool
    left_out: tuple[str, ...] = field(default=(), repr=False)
    look: Look | None = None
    door: Literal["own", "transformers"] = "own"
    most: int | None = None

    @property
    def limit(self) -> int:
        """The most tokens it reads; for images, what the size it is built for comes to."""
        if self.most is not None:
            return self.most
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
    source: Source | Model | nn.Module,
    *,
    tokenizer: Tokenizer | str | Path | None = None,
    device: str | torch.device | None = None,
    dtype: torch.dtype | None = None,
    door: Literal["own", "transformers"] | None = None,
) -> Model:
    """Makes a model ready to be traced.

    Args:
        source: a name of the catalogue, a folder with config.json and weights, the id of a model in
            the hub's cache, a config of ours (random weights from its seed), or a network, ours or
            of transformers, that is already in memory (put in eval mode; whoever made it knows
            whether it was trained).
        tokenizer: reads text for the model; a tokenizer.json or an object. None means the one
            that comes with the source; a config of ours gets the `WordTokenizer`.
        device: "cpu", "cuda" or "mps"; None leaves it where it is.
        dtype: of the weights; None leaves it.
        door: "own" is the network of this project, "transformers" the library's own code, through
            its attention interface; None means own where there is a converter.

    Raises:
        CheckpointError: for files that are missing, altered or of an unknown kind.
        ValueError: for a source, device or door that is not there.
    """
    if door not in (None, "own", "transformers"):
        raise ValueError(f"door: expected 'own' or 'transformers', received {door!r}")
    target = None if device is None else _device(device)
    model = as_model(source, door=door, dtype=dtype, device=target)
    if tokenizer is not None:
        own = FileTokenizer(Path(tokenizer)) if isinstance(tokenizer, str | Path) else tokenizer
        model = replace(model, tokenizer=own)
    model.network.eval()
    if target is not None or dtype is not None:
        model.network.to(device=target, dtype=dtype)
    return model


def as_model(
    source: Source | Model | nn.Module,
    *,
    door: Literal["own", "transformers"] | None = None,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
) -> Model:
    """The source as a model, where it is and as it is; only folders heed the options."""
    if isinstance(source, Model):
        return source
    if isinstance(source, nn.Module) and not isinstance(source, Network):
        return _from_library(source)
    if isinstance(source, Encoder):
        return Model(type(source).__name__, source, None, trained=True)
    if isinstance(source, ViT):
        return Model(type(source).__name__, source, None, True, look=look_of(source.config))
    if isinstance(source, EncoderConfig):
        name = f"encoder, {source.depth} × {source.heads} heads, width {source.dim}"
        return Model(name, Encoder(source), WordTokenizer(source.vocab), trained=False)
    if isinstance(source, ViTConfig):
        name = f"ViT, {source.depth} × {source.heads} heads, width {source.width}"
        return Model(name, ViT(source), None, trained=False, look=look_of(source))
    names = [known.name for known in catalogue()]
    if source in names:
        known = entry(str(source))
        path = folder(known)
        verify(known, path)
        return _from_folder(Folder.at(path), known.title, door, dtype, device)
    folder_ = _folder(source)
    if folder_ is None:
        away = (
            " (which is not in the hub's cache: models.hub fetches it)"
            if "/" in str(source)
            else ""
        )
        raise ValueError(
            f"expected a folder or one of {', '.join(names)}, received {str(source)!r}{away}"
        )
    name = folder_.path.name if Path(source).is_dir() else str(source)
    return _from_folder(folder_, name, door, dtype, device)


def _folder(source: str | Path) -> Folder | None:
    """The folder a source names: a local one, or a model of the hub that is already here."""
    from models import hub

    path = Path(source)
    if path.is_dir():
        return Folder.at(path)
    return hub.snapshot(source) if isinstance(source, str) else None


def _from_library(module: nn.Module) -> Model:
    from models.door.opening import opened_module

    made = opened_module(module)
    name = type(module).__name__
    return Model(name, module, None, True, (), made.look, "transformers", made.limit)


def _from_folder(
    place: Folder,
    name: str,
    door: Literal["own", "transformers"] | None = None,
    dtype: torch.dtype | None = None,
    device: torch.device | None = None,
) -> Model:
    """A folder with config.json, weights and, if it is there, tokenizer.json."""
    try:
        settings = place.json("config.json")
        if settings is None:
            raise CheckpointError("config.json is missing: it says what the weights belong to")
        family = FAMILIES.get(str(settings.get("model_type")))
        if door == "own" and family is None:
            raise CheckpointError(
                f"door: there is no converter for model_type {settings.get('model_type')!r}:"
                f" expected {' or '.join(FAMILIES)}"
            )
        if door == "transformers" or family is None:
            return _through_library(place, name, dtype, device)
        return _through_converter(place, name, family, settings)
    except ValueError as error:
        raise CheckpointError(f"{name}: {error}") from error


def _through_library(
    place: Folder, name: str, dtype: torch.dtype | None, device: torch.device | None
) -> Model:
    from models.door.opening import opened_folder

    made = opened_folder(place, dtype=dtype, device=str(device or "cpu"))
    return Model(
        name,
        made.network,
        made.tokenizer,
        True,
        made.left_out,
        made.look,
        "transformers",
        made.limit,
    )


def _through_converter(place: Folder, name: str, family: Family, settings: dict[str, Any]) -> Model:
    files = place.weights()
    room.check(files, torch.float32)
    state = {key: tensor for file in files for key, tensor in tensors(file).items()}
    config = family.config(settings, state)
    state, left_out = family.weights(state, config)
    network = _filled(family.network, config, state)
    file = place.file("tokenizer.json")
    tokenizer = FileTokenizer(file) if file is not None else None
    place.file("preprocessor_config.json")
    look = read_look(place.path, config) if isinstance(config, ViTConfig) else None
    return Model(name, network, tokenizer, True, left_out, look)


def _filled(
    make: Callable[[Any], Network], config: EncoderConfig | ViTConfig, state: dict[str, Tensor]
) -> Network:
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

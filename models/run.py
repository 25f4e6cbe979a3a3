"""The two calls that everything starts with: `load` a model, `trace` an input through it."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor

from models.attention import Edit, Pattern
from models.catalogue import CheckpointError, catalogue, entry, folder, verify
from models.convert import bert
from models.encoder import Encoder, EncoderConfig, EncoderOutput
from models.text import FileTokenizer, Tokenizer, Tokens, WordTokenizer
from models.trace import Output, Site, Trace, padding_of

__all__ = ["CheckpointError", "Model", "Trace", "catalogue", "devices", "load", "trace"]

Text = str | tuple[str, str]
Input = Text | list[str] | list[Text] | Int[Tensor, "batch token"]


@dataclass(frozen=True, eq=False)
class Model:
    """A network that is ready to be traced.

    Attributes:
        name: what views call it.
        network: the module, in eval mode.
        tokenizer: turns text into ids; None if the model only reads ids.
        trained: whether the weights come from training or from a seed.
        left_out: weights of the checkpoint that are no part of the network.
    """

    name: str
    network: Encoder
    tokenizer: Tokenizer | None
    trained: bool
    left_out: tuple[str, ...] = field(default=(), repr=False)

    @property
    def limit(self) -> int:
        """The most tokens it reads."""
        return self.network.config.max_tokens

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
    source: str | Path | EncoderConfig | Encoder | Model,
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
            (put in eval mode).
        tokenizer: reads text for the model; a tokenizer.json or an object. None means the one
            that comes with the source; a config of ours gets the `WordTokenizer`.
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
    model = _open(source)
    if tokenizer is not None:
        own = FileTokenizer(Path(tokenizer)) if isinstance(tokenizer, str | Path) else tokenizer
        model = Model(model.name, model.network, own, model.trained, model.left_out)
    model.network.eval()
    if target is not None or dtype is not None:
        model.network.to(device=target, dtype=dtype)
    return model


def trace(
    model: Model | Encoder,
    input: Input,
    target: None = None,
    *,
    edits: Sequence[Edit] = (),
    hidden: bool = False,
    gradient: Callable[[Output], Tensor] | None = None,
) -> Trace:
    """Runs the model once and keeps what every view is made from.

    Args:
        model: from `load`, or a network of ours.
        input: a text, a pair of texts (a tuple), a list of either, or ids `batch token`.
        target: the decoder's side; an encoder has none.
        edits: what to change on the way.
        hidden: whether to keep the hidden states of every layer.
        gradient: gives the number whose gradient by the weights is wanted, from the output.

    Raises:
        ValueError: for empty input, input over the model's limit, ids that are not in its
            vocabulary, or text for a model without a tokenizer.
    """
    model = _open(model)
    if target is not None:
        raise ValueError(f"{model.name} is an encoder: it has no decoder to give a target to")
    tokens = _tokens(model, input)
    ids, padding, segments = _batch(tokens, model.device)
    with _without_dropout(model.network), torch.set_grad_enabled(gradient is not None):
        out = model.network(ids, padding=padding, segments=segments, edits=edits)
    output = Output("hidden states", out.hidden)
    patterns = out.patterns if gradient is None else _differentiate(out, output, gradient)
    return Trace(
        model=model.name,
        trained=model.trained,
        tokens=tokens,
        sites=tuple(
            Site(layer, "self", pattern.heads, pattern.queries, pattern.keys)
            for layer, pattern in enumerate(patterns)
        ),
        output=Output(output.name, output.values.detach()),
        patterns=patterns,
        states=tuple(state.detach() for state in out.states) if hidden else None,
    )


@contextmanager
def _without_dropout(network: Encoder) -> Iterator[None]:
    """Eval mode for one pass: a network that is being trained goes on in training mode."""
    training = [part for part in network.modules() if part.training]
    network.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


def _open(source: str | Path | EncoderConfig | Encoder | Model) -> Model:
    if isinstance(source, Model):
        return source
    if isinstance(source, Encoder):
        return Model(type(source).__name__, source, None, trained=True)
    if isinstance(source, EncoderConfig):
        name = f"encoder, {source.depth} × {source.heads} heads, width {source.dim}"
        return Model(name, Encoder(source), WordTokenizer(source.vocab), trained=False)
    names = [known.name for known in catalogue()]
    if source in names:
        known = entry(str(source))
        path = folder(known)
        verify(known, path)
        return _open_folder(path, known.title)
    path = Path(source)
    if not path.is_dir():
        raise ValueError(
            f"expected a folder or one of {', '.join(names)}, received {str(source)!r}"
        )
    return _open_folder(path, path.name)


def _open_folder(path: Path, name: str) -> Model:
    """A folder with config.json, model.safetensors and, if it is there, tokenizer.json."""
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
    if settings.get("model_type") != "bert":
        raise CheckpointError(
            f"{name}: expected a checkpoint of type bert, received {settings.get('model_type')!r}"
        )
    try:
        config = bert.config(settings)
        state, left_out = bert.weights(state, config.depth)
        network = _filled(config, state)
        file = path / "tokenizer.json"
        tokenizer = FileTokenizer(file) if file.is_file() else None
    except ValueError as error:
        raise CheckpointError(f"{name}: {error}") from error
    return Model(name, network, tokenizer, True, left_out)


def _filled(config: EncoderConfig, state: dict[str, Tensor]) -> Encoder:
    """An encoder round these weights, without drawing random ones first."""
    with torch.device("meta"):
        network = Encoder(config)
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


def _tokens(model: Model, source: Input) -> tuple[Tokens, ...]:
    if isinstance(source, Tensor):
        tokens = tuple(Tokens.of_ids(row) for row in source.tolist())
    else:
        texts = source if isinstance(source, list) else [source]
        if model.tokenizer is None:
            raise ValueError(f"{model.name} has no tokenizer: give it ids, or load(tokenizer=...)")
        read = model.tokenizer.encode
        tokens = tuple(read(t) if isinstance(t, str) else read(*t) for t in texts)
    if not tokens or not all(len(item) for item in tokens):
        raise ValueError("the input is empty: expected at least one token")
    longest = max(len(item) for item in tokens)
    if longest > model.limit:
        raise ValueError(f"{model.name} reads at most {model.limit} tokens, received {longest}")
    vocab = model.network.config.vocab
    worst = max(max(item.ids) for item in tokens), min(min(item.ids) for item in tokens)
    if worst[0] >= vocab or worst[1] < 0:
        raise ValueError(f"ids: expected 0 to {vocab - 1}, received {worst[1]} to {worst[0]}")
    kinds = model.network.config.segments
    segment = max(max(item.segments) for item in tokens)
    if kinds and segment >= kinds:
        raise ValueError(f"{model.name} tells {kinds} texts apart, received {segment + 1}")
    return tokens


def _batch(
    tokens: tuple[Tokens, ...], device: torch.device
) -> tuple[Tensor, Tensor | None, Tensor]:
    """Ids, padding and segments as tensors, filled up to the longest item."""
    longest = max(len(item) for item in tokens)
    ids = torch.zeros(len(tokens), longest, dtype=torch.long)
    segments = torch.zeros_like(ids)
    for row, item in enumerate(tokens):
        ids[row, : len(item)] = torch.tensor(item.ids)
        segments[row, : len(item)] = torch.tensor(item.segments)
    padding = padding_of(tokens)
    return (
        ids.to(device),
        None if padding is None else padding.to(device),
        segments.to(device),
    )


def _differentiate(
    out: EncoderOutput, output: Output, gradient: Callable[[Output], Tensor]
) -> tuple[Pattern, ...]:
    """The patterns, each with the gradient of its values, and free of the graph."""
    with torch.enable_grad():
        number = gradient(output)
    if number.numel() != 1:
        raise ValueError(f"gradient: expected one number, received {tuple(number.shape)}")
    values = [pattern.values for pattern in out.patterns if pattern.values is not None]
    if len(values) < len(out.patterns) or not number.requires_grad:
        raise ValueError(
            "gradient: expected a number that depends on the output, and weights that are not"
            " frozen (requires_grad) up to the first attention"
        )
    gradients = torch.autograd.grad(number, values)
    return tuple(
        pattern.detached(found) for pattern, found in zip(out.patterns, gradients, strict=True)
    )

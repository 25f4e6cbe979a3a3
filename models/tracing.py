"""Runs a `TraceRequest`: opens its model, prepares its input, and traces it."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch

from models.catalogue import catalogue
from models.edits.fields import arguments as arguments_of
from models.image import open_image
from models.inputs.pictures import Processed, processed, with_channels
from models.inputs.prompt import Prompt, chat, in_template
from models.inputs.sound import read_recording
from models.inputs.video import Video
from models.loading.estimate import check_memory, kept_logits
from models.loading.load import load
from models.preprocessing import Preprocessing, changed
from models.presets import config_of
from models.progress import Progress, no_progress
from models.request import (
    Chat,
    File,
    Ids,
    Picture,
    Question,
    Recording,
    Source,
    TraceRequest,
)
from models.run import trace

if TYPE_CHECKING:
    from models.attention import Edit
    from models.image import Picture as Decoded
    from models.model import Door, Model
    from models.trace import Trace

LONG = 1024  # tokens from which on memory is checked before a pass


def source_of(name: str, device: str = "cpu") -> Source:
    """A model by name: of the catalogue, of a folder on this machine, or on the hub."""
    if any(known.name == name for known in catalogue()):
        return Source("catalogue", name, device=device)
    return Source("folder" if Path(name).is_dir() else "hub", name, device=device)


def open_model(source: Source) -> "Model":
    """The model.

    Raises:
        ValueError: in one line, if it cannot be opened.
    """
    if source.place == "built":
        return load(config_of(source.name, dict(source.sizes)), device=source.device)
    name = Path(source.name.strip()).expanduser() if source.place == "folder" else source.name
    model = load(
        name,
        device=source.device,
        door=None if source.door == "auto" else cast("Door", source.door),
    )
    return model if source.trained else model.untrained()


def run(request: TraceRequest, model: "Model", progress: Progress = no_progress) -> "Trace":
    """The trace that a request describes.

    Args:
        request: what to trace.
        model: of `request.model`, open.
        progress: see `models.run.trace`.

    Raises:
        ValueError: for an input that the model cannot read, or that does not fit into memory.
    """
    tokens = length(request, model)
    if tokens > LONG:
        check_memory(model, tokens)
    return trace(
        *arguments(request, model),
        edits=_edits(request, model),
        hidden=request.hidden,
        logits_to_keep=kept_logits(model, tokens),
        progress=progress,
    )


def arguments(request: TraceRequest, model: "Model") -> "tuple[Model, Any, Any]":
    """Model, input and target as `models.run.trace` takes them."""
    model = model.into(request.language) if request.language else model
    return model, _argument(request.input, model), _argument(request.target, model)


def _edits(request: TraceRequest, model: "Model") -> "tuple[Edit, ...]":
    """The edits of a request, with the passes that they take from."""
    passes: dict[TraceRequest, Trace] = {}
    edits: list[Any] = []
    for edit in request.edits:
        source = getattr(edit, "source", None)
        if isinstance(source, TraceRequest):
            if source not in passes:
                passes[source] = run(source, model)
            edit = type(edit)(**{**arguments_of(edit), "source": passes[source]})
        edits.append(edit)
    return tuple(edits)


def length(request: TraceRequest, model: "Model") -> int:
    """Tokens of a text or of ids; 0 for other inputs."""
    given = request.input
    given = written_out(given, model) if isinstance(given, Chat) else given
    if isinstance(given, Ids):
        return len(given.values)
    if model.tokenizer is None or not isinstance(given, str | tuple):
        return 0
    return len(model.tokenizer.encode(*([given] if isinstance(given, str) else given)))


def seen(picture: Picture, model: "Model") -> Processed:
    """A picture as a model reads it.

    Raises:
        ValueError: for a picture that cannot be read, or a model that states no preprocessing.
    """
    if model.preprocessing is None:
        raise ValueError(f"{model.name} does not state its image size: use a notebook")
    changes: dict[str, Any] = dict(picture.changes)
    return prepared(picture.file, changed(model.preprocessing, **changes))


@lru_cache(maxsize=8)
def prepared(file: File, preprocessing: Preprocessing) -> Processed:
    """A picture as a model with this preprocessing reads it."""
    return processed(preprocessing, decoded(file))


@lru_cache(maxsize=3)
def decoded(file: File) -> "Decoded":
    """The picture in a file."""
    return open_image(file.data)


def written_out(turn: Chat, model: "Model") -> str | Ids:
    """A turn of a chat in the model's template, with the beginning of the answer.

    Ids where the tokenizer puts special tokens around a text that the template does not have: they
    are those of transformers' `apply_chat_template`.

    Raises:
        ValueError: for a model without a chat template or a tokenizer.
    """
    reader, prompt = model.tokenizer, Prompt(turn.text)
    if model.prompts is None or model.prompts.template is None or reader is None:
        raise ValueError(f"{model.name} states no chat template")
    whole = reader.encode(chat(model, prompt, None) + turn.answer)
    pairs = zip(whole.ids, whole.spans, strict=True)
    ids = tuple(id for id, span in pairs if span is not None)
    text = in_template(model, prompt) + turn.answer
    return text if tuple(reader.encode(text).ids) == ids else Ids(ids)


def _argument(given: Any, model: "Model") -> Any:
    if isinstance(given, Recording):
        return read_recording(given.file.data)
    if isinstance(given, Chat):
        given = written_out(given, model)
    if isinstance(given, Ids):
        return torch.tensor([given.values], device=model.device)
    if isinstance(given, Question):
        files = tuple(file.data for file in given.pictures)
        return Prompt(given.text, video=film(given)) if given.video else Prompt(given.text, files)
    return _picture(given, model) if isinstance(given, Picture) else given


def film(question: Question) -> Video:
    """The video of a question: an animation, or a picture a frame."""
    data = [file.data for file in question.pictures]
    return Video(data[0] if len(data) == 1 else data)


def _picture(picture: Picture, model: "Model") -> Any:
    """The picture, prepared, with the text beside it."""
    from models.inputs.named import forward_arguments

    processed = seen(picture, model)
    pixels = with_channels(model, processed.pixels)
    if model.door == "own":
        return pixels
    known = forward_arguments(model.network)
    more = {name: value for name, value in processed.arguments.items() if name in known}
    beside = _argument(picture.text, model)
    text = {} if beside is None else {"input_ids": beside}
    return {**text, **more, "pixel_values": pixels}

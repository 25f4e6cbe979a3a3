"""Prompts: a text with pictures, a video or sound, written as the model's chat template has it."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor

from models import confined
from models.image import Picture
from models.inputs.answers import can_write
from models.inputs.joint_processor import joint_processor
from models.inputs.pictures import opened
from models.inputs.placement import coordinates, parts_of
from models.inputs.processor import notes_of, seen_image
from models.inputs.video import ASSUMED, FAMILIES, Frames, Video, read_video
from models.picture_grid import Box, Part
from models.prompting import PromptSettings
from models.text import check_text

if TYPE_CHECKING:
    from models.model import Model

PLACE = "\N{OBJECT REPLACEMENT CHARACTER}"  # where a picture goes in the text
MOST_WRITTEN = 64  # tokens of an answer
# Processors that write the tokens of the picture into a text by themselves.
PLACING = ("Blip2Processor", "InstructBlipProcessor", "Florence2Processor")
NOT_READ = ("labels", "num_patches")  # by a forward pass, of what processors return


@dataclass(frozen=True, eq=False)
class Prompt:
    """What a user asks a model.

    Attributes:
        text: the question; each U+FFFC in it is the place of a picture, and without any the
            pictures come first.
        images: the pictures: paths, bytes of files, or Pillow images.
        audio: a recording, for a model that reads sound; None without one.
        most_written: the most tokens that the model writes as an answer.
        video: frames, in place of pictures; they come before the text.
    """

    text: str
    images: Sequence[Any] = ()
    audio: Any = None
    most_written: int = MOST_WRITTEN
    video: Video | None = None


@dataclass(frozen=True, eq=False)
class Reading:
    """A prompt as the model's own inputs.

    Attributes:
        arguments: by name; texts and pictures may stand for ids and pixels.
        parts: what the vision tower sees of the pictures, or each frame of a video; () where that
            is not known.
        notes: how pictures were prepared, for display.
    """

    arguments: dict[str, Any]
    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()


def read_prompt(model: "Model", prompt: Prompt) -> Reading:
    """The model's own inputs of a prompt without sound.

    Raises:
        ValueError: for a picture or text that cannot be read, and for pictures for a model that
            reads none.
    """
    check_text(prompt.text)
    if prompt.video is not None:
        return _of_video(model, prompt, prompt.video)
    pictures = [opened(each) for each in prompt.images]
    if PLACE in prompt.text and prompt.text.count(PLACE) != len(pictures):
        raise ValueError(
            f"pictures: expected {prompt.text.count(PLACE)}, one for each place in the text,"
            f" received {len(pictures)}"
        )
    if not pictures:
        return Reading({"input_ids": [in_template(model, prompt)]})
    if model.preprocessing is None:
        raise ValueError(f"{model.name} reads no pictures, received {len(pictures)}")
    processor = joint_processor(model)
    if processor is not None:
        return _by_processor(model, prompt, pictures, processor)
    return Reading({"input_ids": [prompt.text.replace(PLACE, "")], "pixel_values": pictures})


def plain(model: "Model", prompt: Prompt) -> Any:
    """A prompt for a network made here: its text in the chat template, or its only picture.

    Raises:
        ValueError: for text beside pictures, several pictures, or sound.
    """
    if prompt.video is not None:
        raise ValueError("prompt: a network made here reads no videos")
    if prompt.audio is not None or len(prompt.images) > (0 if prompt.text else 1):
        raise ValueError("prompt: expected a text, or a single picture, for a network made here")
    return prompt.images[0] if prompt.images else in_template(model, prompt)


def is_asked(model: "Model") -> bool:
    """Whether a model writes answers to questions about pictures."""
    reads = model.door != "own" and model.preprocessing is not None and can_write(model.network)
    return reads and joint_processor(model) is not None


def in_template(model: "Model", prompt: Prompt) -> str:
    """What a model is given to read: a prompt in its chat template, one token for each picture.

    The template ends where the model's turn begins. The tokenizer reads a text without pictures as
    the ids of transformers' `apply_chat_template`.
    """
    processor = joint_processor(model)
    if prompt.video is not None and processor is not None:
        return chat(model, prompt, str(processor.video_token))
    if not prompt.images:
        return _without_second_begin(model, chat(model, prompt, None))
    if processor is None or type(processor).__name__ in PLACING:
        return chat(model, prompt, None)
    return chat(model, prompt, str(processor.image_token))


def chat(model: "Model", prompt: Prompt, place: str | None) -> str:
    """The text of a prompt in the model's chat template; as it is without one.

    Args:
        model: a transformers model.
        prompt: its text, and how many pictures it has.
        place: what stands for a picture or a video where there is no template; None for nothing.

    Raises:
        ValueError: for a template that does not run.
    """
    pieces, kind = prompt.text.split(PLACE), "image" if prompt.video is None else "video"
    if len(pieces) == 1:
        pieces = [""] * (len(prompt.images) + (prompt.video is not None)) + pieces
    if model.prompts is None or model.prompts.template is None:
        return (place or "").join(pieces)
    content: list[dict[str, str]] = []
    for index, piece in enumerate(pieces):
        content += [{"type": kind}] if index else []
        content += [{"type": "text", "text": piece}] if piece else []
    several = len(pieces) > 1 or hasattr(model.network.config, "vision_config")
    message = {"role": "user", "content": content if several else prompt.text}
    return _rendered(model.prompts, message)


def special_tokens(model: "Model") -> dict[str, str]:
    """Names of special tokens that the checkpoint states, such as {"image_token": "<image>"}."""
    return {} if model.prompts is None else dict(model.prompts.tokens)


def _rendered(prompts: PromptSettings, message: dict[str, Any]) -> str:
    render = confined.jobs.render if prompts.trusted else confined.rendered
    try:
        return render(prompts.template or "", message, dict(prompts.tokens))
    except Exception as error:  # whatever a template does
        what = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"the model's chat template: {what[0]:.160}") from error


def _checked(model: "Model", text: str) -> str:
    """The text, once the model's tokenizer has read it: processors call it without a limit."""
    if model.tokenizer is not None:
        model.tokenizer.encode(text)
    return text


def _begins(model: "Model", text: str) -> bool:
    """Whether the text has the begin symbol already."""
    begin = special_tokens(model).get("bos_token", "")
    return begin != "" and text.startswith(begin)


def _without_second_begin(model: "Model", text: str) -> str:
    """The text without a begin symbol that the tokenizer puts in front once more."""
    if not _begins(model, text) or model.tokenizer is None:
        return text
    first = model.tokenizer.encode(text).ids[:2]
    twice = len(first) == 2 and first[0] == first[1]
    return text.removeprefix(special_tokens(model)["bos_token"]) if twice else text


def _by_processor(
    model: "Model", prompt: Prompt, pictures: Sequence[Picture], processor: Any
) -> Reading:
    """By the model's own processor."""
    place = None if type(processor).__name__ in PLACING else str(processor.image_token)
    text = _checked(model, chat(model, prompt, place))
    images = [picture.image for picture in pictures]
    arguments = _called(processor, images, text, _begins(model, text))
    parts: tuple[Part, ...] = ()
    if arguments["pixel_values"].ndim >= 4:
        maps = [coordinates(*image.size, number) for number, image in enumerate(images)]
        seen = _called(processor, maps, text, _begins(model, text))["pixel_values"]
        parts = parts_of(seen, processor.image_processor)
    image_processor = processor.image_processor
    notes = [note for picture in pictures for note in picture.notes]
    notes += [
        note
        for image in images
        for note in notes_of(image_processor, image, seen_image(image_processor, image))
    ]
    return Reading(arguments, parts, tuple(dict.fromkeys(notes)))


def reads_videos(model: "Model") -> bool:
    """Whether a prompt of this model can have a video."""
    return (
        model.door != "own"
        and model.network.config.model_type in FAMILIES
        and getattr(joint_processor(model), "video_processor", None) is not None
    )


def _of_video(model: "Model", prompt: Prompt, video: Video) -> Reading:
    """A prompt with a video, by the model's own processor."""
    if len(prompt.images) or prompt.audio is not None:
        raise ValueError("prompt: expected a video alone, received pictures or sound beside it")
    if not reads_videos(model):
        raise ValueError(f"{model.name} reads no videos here")
    frames = read_video(video)
    processor = joint_processor(model)
    place = str(processor.video_token)  # pyright: ignore[reportOptionalMemberAccess]
    text = _checked(model, chat(model, prompt, place))
    arguments = _called(processor, (), text, _begins(model, text), frames)
    count, high, wide = arguments["video_grid_thw"][0].tolist()
    reader = processor.video_processor  # pyright: ignore[reportOptionalMemberAccess]
    rows, cols = high * reader.patch_size, wide * reader.patch_size
    notes = [
        f"all {len(frames.images)} frames, read as {cols} × {rows} pixels:"
        f" {reader.temporal_patch_size} frames share a grid of tokens, of which there are {count}"
    ]
    if frames.fps is None:
        notes.append(f"no frame rate is stated: {ASSUMED} frames a second are assumed")
    parts = tuple(Part(number, Box(), rows, cols) for number in range(len(frames.images)))
    return Reading(arguments, parts, tuple(notes))


def _called(
    processor: Any,
    images: Sequence[Any],
    text: str,
    begins: bool,
    frames: Frames | None = None,
) -> dict[str, Tensor]:
    """What the processor returns for pictures, or for the frames of a video."""
    from models.inputs.quiet import quiet_transformers

    more: dict[str, Any] = {"add_special_tokens": False} if begins else {}
    more |= {"images": list(images)} if frames is None else _as_video(frames)
    try:
        with quiet_transformers(), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy, in PaliGemma's
            batch = processor(text=[text], return_tensors="pt", **more)
    except Exception as error:  # each processor checks its inputs in its own way
        what = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"{type(processor).__name__}: {what[0]:.160}") from error
    return {
        name: value
        for name, value in batch.items()
        if isinstance(value, Tensor) and name not in NOT_READ
    }


def _as_video(frames: Frames) -> dict[str, Any]:
    """Frames as arguments of a processor of the library."""
    from transformers.video_utils import VideoMetadata

    count = len(frames.images)
    about = VideoMetadata(count, frames.fps, frames_indices=list(range(count)))
    return {"videos": [list(frames.images)], "videos_kwargs": {"video_metadata": [about]}}

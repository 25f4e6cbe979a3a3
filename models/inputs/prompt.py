"""Prompts: a text with pictures or a video, written as the model's chat template has it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch import Tensor

from models import confined
from models.files.errors import first_line
from models.image import Picture
from models.inputs.generation import can_write
from models.inputs.pictures import opened
from models.inputs.placement import coordinates, parts_of
from models.inputs.processor import called, joint_processor, notes_of, seen_image
from models.inputs.sequences import ModelInputs
from models.inputs.video import ASSUMED, FAMILIES, Video, read_video
from models.picture_grid import Box, Part
from models.prompting import PromptSettings
from models.text import check_text

if TYPE_CHECKING:
    from models.model import Model

MOST_WRITTEN = 64  # tokens of an answer
# Processors that write the tokens of the picture into a text by themselves.
PLACING = ("Blip2Processor", "Florence2Processor")
NOT_READ = ("labels", "num_patches")  # by a forward pass, of what processors return


@dataclass(frozen=True, eq=False)
class Prompt:
    """What a user asks a model.

    Attributes:
        text: the question, which comes after the pictures.
        images: the pictures: paths, bytes of files, or Pillow images.
        most_written: the most tokens that the model writes as an answer.
        video: frames, in place of pictures.
    """

    text: str
    images: Sequence[Any] = ()
    most_written: int = MOST_WRITTEN
    video: Video | None = None


def read_prompt(model: "Model", prompt: Prompt) -> ModelInputs:
    """The model's own inputs of a prompt.

    Raises:
        ValueError: for a picture or text that cannot be read, and for pictures for a model that
            reads none.
    """
    check_text(prompt.text)
    if prompt.video is not None:
        return _of_video(model, prompt, prompt.video)
    pictures = [opened(each) for each in prompt.images]
    if not pictures:
        return ModelInputs({"input_ids": [in_template(model, prompt)]})
    if model.preprocessing is None:
        raise ValueError(f"{model.name} reads no pictures, received {len(pictures)}")
    processor = joint_processor(model)
    if processor is not None:
        return _by_processor(model, prompt, pictures, processor)
    return ModelInputs({"input_ids": [prompt.text], "pixel_values": pictures})


def plain(model: "Model", prompt: Prompt) -> Any:
    """A prompt for a network made here: its text in the chat template, or its only picture.

    Raises:
        ValueError: for text beside pictures, several pictures, or a video.
    """
    if prompt.video is not None or len(prompt.images) > (0 if prompt.text else 1):
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
    text = chat(model, prompt, _place(joint_processor(model), prompt))
    begin = "" if prompt.images or prompt.video is not None else _begin(model, text)
    if not begin or model.tokenizer is None:
        return text
    first = model.tokenizer.encode(text).ids[:2]
    twice = len(first) == 2 and first[0] == first[1]  # the tokenizer puts one in front once more
    return text.removeprefix(begin) if twice else text


def _place(processor: Any | None, prompt: Prompt) -> str | None:
    """What stands in a text for a picture or a video; None where the processor puts it there."""
    if processor is None or type(processor).__name__ in PLACING:
        return None
    place = getattr(processor, "image_token" if prompt.video is None else "video_token", None)
    return None if place is None else str(place)


def chat(model: "Model", prompt: Prompt, place: str | None) -> str:
    """The text of a prompt in the model's chat template; as it is without one.

    Args:
        model: a transformers model.
        prompt: its text, and how many pictures it has.
        place: what stands for a picture or a video where there is no template; None for nothing.

    Raises:
        ValueError: for a template that does not run.
    """
    count = len(prompt.images) + (prompt.video is not None)
    if model.prompts is None or model.prompts.template is None:
        return (place or "") * count + prompt.text
    content = [{"type": "image" if prompt.video is None else "video"}] * count
    content += [{"type": "text", "text": prompt.text}] if prompt.text else []
    several = count > 0 or hasattr(model.network.config, "vision_config")
    message = {"role": "user", "content": content if several else prompt.text}
    return _rendered(model.prompts, message)


def _rendered(prompts: PromptSettings, message: dict[str, Any]) -> str:
    render = confined.jobs.render if prompts.trusted else confined.rendered
    try:
        return render(prompts.template or "", message, dict(prompts.tokens))
    except Exception as error:  # whatever a template does
        raise ValueError(f"the model's chat template: {first_line(error)}") from error


def _begin(model: "Model", text: str) -> str:
    """The begin symbol, where a text has it already; "" otherwise."""
    begin = "" if model.prompts is None else dict(model.prompts.tokens).get("bos_token", "")
    return begin if text.startswith(begin) else ""


def _called(model: "Model", prompt: Prompt, processor: Any, **given: Any) -> dict[str, Tensor]:
    """What a processor returns for a prompt and its pictures, or the frames of its video."""
    text = chat(model, prompt, _place(processor, prompt))
    if model.tokenizer is not None:
        model.tokenizer.encode(text)  # which the processor does without a limit
    once = {"add_special_tokens": False} if _begin(model, text) else {}
    arguments = called(processor, text=[text], **given, **once)
    return {name: value for name, value in arguments.items() if name not in NOT_READ}


def _by_processor(
    model: "Model", prompt: Prompt, pictures: Sequence[Picture], processor: Any
) -> ModelInputs:
    """By the model's own processor."""
    images = [picture.image for picture in pictures]
    arguments, reader = _called(model, prompt, processor, images=images), processor.image_processor
    parts: tuple[Part, ...] = ()
    if arguments["pixel_values"].ndim >= 4:
        maps = [coordinates(*image.size, number) for number, image in enumerate(images)]
        levels = {"images": maps, "do_rescale": False, "do_normalize": False}
        parts = parts_of(_called(model, prompt, processor, **levels)["pixel_values"])
    notes = [note for picture in pictures for note in picture.notes]
    for image in images:
        notes += notes_of(reader, image, seen_image(reader, image))
    return ModelInputs(arguments, notes=tuple(dict.fromkeys(notes)), parts=parts)


def reads_videos(model: "Model") -> bool:
    """Whether a prompt of this model can have a video."""
    return (
        model.door != "own"
        and model.network.config.model_type in FAMILIES
        and getattr(joint_processor(model), "video_processor", None) is not None
    )


def _of_video(model: "Model", prompt: Prompt, video: Video) -> ModelInputs:
    """A prompt with a video, by the model's own processor."""
    from transformers.video_utils import VideoMetadata

    if len(prompt.images):
        raise ValueError("prompt: expected a video alone, received pictures beside it")
    processor: Any = joint_processor(model)
    if not reads_videos(model):
        raise ValueError(f"{model.name} reads no videos here")
    video = read_video(video)
    total, reader = len(video.frames), processor.video_processor
    about = VideoMetadata(total, video.fps, frames_indices=list(range(total)))
    given = {"videos": [list(video.frames)], "videos_kwargs": {"video_metadata": [about]}}
    arguments = _called(model, prompt, processor, **given)
    count, *sides = arguments["video_grid_thw"][0].tolist()
    rows, cols = (side * reader.patch_size for side in sides)
    notes = [
        f"all {total} frames, read as {cols} × {rows} pixels:"
        f" {reader.temporal_patch_size} frames share a grid of tokens, of which there are {count}"
    ]
    if video.fps is None:
        notes.append(f"no frame rate is stated: {ASSUMED} frames a second are assumed")
    parts = tuple(Part(number, Box(), rows, cols) for number in range(total))
    return ModelInputs(arguments, notes=tuple(notes), parts=parts)

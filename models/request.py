"""What is to be traced, as one value: the model, its input, and what is changed on the way.

Every way in (a page, a link, the shell, a run over many inputs) makes a `TraceRequest`; equal
requests have equal traces. Torch is not needed to make one: `models.tracing` runs it.
"""

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Place = Literal["catalogue", "hub", "folder", "built"]
PLACES: tuple[Place, ...] = ("catalogue", "hub", "folder", "built")
Items = tuple[tuple[str, Hashable], ...]


@dataclass(frozen=True)
class Source:
    """Where a model comes from, and how it is opened.

    Attributes:
        place: "built" is a network of random weights, made from its config.
        name: in the catalogue, on the hub, or of the folder; of a built one its kind, one of
            `models.presets.KINDS`.
        sizes: the fields of a built one's config that differ from the defaults.
        device: on which it runs.
        door: the implementation: "own" (Headscope), "transformers", or "auto" (Headscope if there
            is a converter and its network has a place for the checkpoint's head).
        stamp: digest of its files' names, sizes and times; a source whose files change is another.
        trained: False for its architecture with random weights, see `Model.untrained`.
    """

    place: Place
    name: str
    sizes: Items = ()
    device: str = "cpu"
    door: str = "auto"
    stamp: str = ""
    trained: bool = True

    @property
    def catalogue(self) -> str:
        """The name in the catalogue; "" for any other place."""
        return self.name if self.place == "catalogue" else ""

    @property
    def layout(self) -> "Source":
        """Equal for all sources whose networks have the same layers and heads."""
        return replace(self, sizes=tuple(item for item in self.sizes if item[0] != "seed"))


def built(kind: str, sizes: Mapping[str, Any], device: str = "cpu") -> Source:
    """A network of random weights, by the fields of its config."""
    return Source("built", kind, tuple(sizes.items()), device=device)


@dataclass(frozen=True)
class Reads:
    """The kinds of input a model takes.

    Attributes:
        text: text or ids.
        image: images.
        sound: audio.
        target: a target for its decoder.
        pair: two segments of text.
        asked: questions about pictures, which it answers.
    """

    text: bool
    image: bool
    sound: bool = False
    target: bool = False
    pair: bool = False
    asked: bool = False


@dataclass(frozen=True)
class Ids:
    """Token ids, for a model without a tokenizer."""

    values: tuple[int, ...]


@dataclass(frozen=True)
class File:
    """A file, by the digest of its contents.

    Attributes:
        digest: SHA-256.
        data: its contents.
        name: in Python code.
    """

    digest: str
    data: bytes = field(repr=False, compare=False)
    name: str


def digest_of(data: bytes | str) -> str:
    """SHA-256 of a file or text, in hexadecimal digits."""
    encoded = data.encode("utf-8", "replace") if isinstance(data, str) else data
    return hashlib.sha256(encoded).hexdigest()


def file_of(data: bytes, name: str) -> File:
    """A file with these contents."""
    return File(digest_of(data), data, name)


@dataclass(frozen=True)
class Picture:
    """A picture, as a model reads it.

    Attributes:
        file: of the picture.
        changes: of the model's preprocessing, as arguments of `models.preprocessing.changed`.
        text: that a model reads beside it; None for none.
    """

    file: File
    changes: Items = ()
    text: "str | Ids | None" = None


@dataclass(frozen=True)
class Recording:
    """A sound file."""

    file: File


@dataclass(frozen=True)
class Question:
    """What a model that writes answers is asked, in its chat template.

    Attributes:
        text: the question.
        pictures: beside it, in order.
        video: whether these are the frames of a video, or a single one is an animation.
    """

    text: str
    pictures: tuple[File, ...] = ()
    video: bool = False


@dataclass(frozen=True)
class Chat:
    """A user's turn, which the model reads in its chat template.

    Attributes:
        text: what the user says.
        answer: how the model's turn begins.
    """

    text: str
    answer: str = ""


Input = str | tuple[str, str] | Ids | Picture | Recording | Question | Chat


@dataclass(frozen=True)
class TraceRequest:
    """One trace, described.

    Attributes:
        model: where it comes from.
        input: a text, a pair of texts, ids, a picture, a recording, a question, or a turn of a
            chat.
        target: what the decoder of an encoder–decoder is to write, or the answer to a question;
            None for what the model writes itself.
        edits: of the pass, in order (see `models.edits`).
        hidden: whether the hidden states of every layer are recorded.
        language: that a translator of several writes in, by the code of its tokenizer; "" as the
            checkpoint has it.
    """

    model: Source
    input: Input
    target: str | Ids | None = None
    edits: tuple[Hashable, ...] = ()
    hidden: bool = False
    language: str = ""

    @property
    def picture(self) -> Picture | None:
        """The picture among its inputs."""
        return self.input if isinstance(self.input, Picture) else None

"""What the page's model reads: a text, a pair, ids, a picture, a recording, a decoder's target."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.catalogue import entry as catalogue_entry
from models.request import Chat, Ids, Picture, Reads, Recording, Several, Source, TraceRequest
from models.text import clean
from viz.api import reading, samples
from viz.pages import shared
from viz.pages.explore import (
    compute,
    examples,
    preprocessing,
    prompt,
    prompts,
    recordings,
    sizes,
    source,
    words,
)
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls, entry, pictures

if TYPE_CHECKING:
    from models.model import Model

MAX_TOKENS = 16_384  # limit of the page; notebooks have none
FILES = (".txt", ".md", ".csv", ".jsonl")
SENTENCE = "Type a sentence; the picture follows"
PAIRED = ("minilm",)  # models of the catalogue that read two sentences


@dataclass(frozen=True)
class Entries:
    """The entries that were drawn.

    Attributes:
        reads: what they are for.
        beside: the container beside the pictures, or below a text; None until it is drawn.
        hint: where it stands what to look at, if that depends on the trace; None until it is drawn.
        about: where a line about the model stands; None until it is drawn.
    """

    reads: Reads
    beside: DeltaGenerator | None = None
    hint: DeltaGenerator | None = None
    about: DeltaGenerator | None = None


def params(listed: str, settings: Mapping[str, Any]) -> tuple[link.Param, ...]:
    """The page's inputs.

    Args:
        listed: the model of the list; "" for any other. Its first example is the default.
        settings: those in a link, or of now.
    """
    text, target, photo = examples.first(listed)
    return (
        link.text("input", text),
        link.text("pair", ""),
        link.text("target", target),
        link.text("language", ""),
        link.text("ids", "1 2 3 4 5"),
        link.text("target_ids", ""),
        link.choice("photo", photo, samples.PICTURES),
        *pictures.PARAMS,
        *preprocessing.PARAMS,
        *recordings.PARAMS,
        *prompt.PARAMS,
        *prompts.PARAMS,
    )


def known(listed: str) -> Reads | None:
    """What a model of the list reads, before it is open; None for any other model."""
    if listed in sizes.KINDS:
        return Reads(sizes.READS[listed] == "text", sizes.READS[listed] == "image")
    if not listed:
        return None
    about = catalogue_entry(listed)
    target = about.kind in ("seq2seq", "speech")
    kinds = (about.reads == kind for kind in ("text", "image", "sound"))
    return Reads(*kinds, target=target, pair=listed in PAIRED)


def draw(reads: Reads, model: "Model | None" = None) -> Entries:
    """Draws all entries before any is read, so that an error in one does not hide the others.

    Below them stand what the weights of a text are between, what to look at, and the model.

    Args:
        reads: what the model reads.
        model: open; None for one of the list, which has a tokenizer.
    """
    beside = None
    if reads.asked and model is not None:
        prompt.draw(model)
    else:
        with st.container(key=f"{PAGE}_input", horizontal=True, gap="small"):
            _text_entries(reads, model)
            if reads.text and not reads.image:
                beside = _beside_text()
        if reads.image:
            beside = _files(pictures.choose, PAGE, examples.pictures(source.listed()))
            problems = pictures.problems(PAGE)
        elif reads.sound and not reads.text:
            _files(recordings.choose)
            problems = recordings.problems()
        else:
            problems = []
        for problem in problems:
            shared.error_line(problem)
    key = f"{PAGE}_tools"
    with st.container(key=key, horizontal=True, vertical_alignment="center", gap="medium"):
        if reads.text:
            if not (reads.image or reads.target) and (model is None or model.tokenizer is not None):
                prompts.choose()
            words.choose(PAGE, special_names(reads, model), chat=has_template(reads, model))
            beside = beside or _beside_text()
        examples.caption()
        return Entries(reads, beside, st.empty(), st.empty())


def _text_entries(reads: Reads, model: "Model | None") -> None:
    """The text or its ids, what goes with it, and the decoder's target."""
    if reads.text and model is not None and model.tokenizer is None:
        _line("ids", "Token ids, such as 1 5 9 2: this model has no tokenizer")
    elif reads.text:
        hint = "Type a sentence, paste a text, or open a file; the picture follows"
        how = {"placeholder": hint, "multiline": True, "bare": True, "files": FILES}
        entry.text(PAGE, "input", SENTENCE, **how)
        if reads.pair:
            _line("pair", "Second sentence (optional)", width=250)
        if chats(reads, model):
            _line("answer", "Beginning of the answer (optional)", width=280)
    if reads.target:
        ids = model is not None and writer(model) is None
        name, what = ("target_ids", "Target ids") if ids else ("target", "Target")
        _line(name, f"{what} (leave empty to generate)", width=280)
        if model is not None and model.languages:
            _language(model)


def _files(choose: Callable[..., None], *given: Any) -> DeltaGenerator:
    """The choice of a picture or a recording; returns the container beside it."""
    key = f"{PAGE}_pictures"
    with st.container(key=key, horizontal=True, vertical_alignment="bottom"):
        choose(*given)
        return st.container(key=f"{PAGE}_beside_pictures", horizontal=True, width="content")


def _beside_text() -> DeltaGenerator:
    """Where the choice of a second model of the same text stands."""
    return st.container(key=f"{PAGE}_beside_text", horizontal=True, width="content")


def special_names(reads: Reads, model: "Model | None" = None) -> tuple[str, ...]:
    """The special tokens that can be hidden; of a model of the list, without opening it."""
    if model is None:
        return words.of_catalogue(source.listed())
    return words.names(model.tokenizer, target=reads.target)


def has_template(reads: Reads, model: "Model | None" = None) -> bool:
    """Whether the text may be a turn of a chat; of a model of the list, without opening it."""
    if not reads.text or reads.image or reads.sound or reads.target:
        return False
    if model is None:
        return words.has_template(source.listed())
    return model.prompts is not None and model.prompts.template is not None


def request(
    source: Source, model: "Model", entries: Entries
) -> tuple[TraceRequest | None, tuple[str, ...]]:
    """What the entries ask for, None for an empty text; and notes on what was changed in them.

    Raises:
        ValueError: in one line, for an input that cannot be read.
    """
    reads = entries.reads
    if reads.asked:
        return prompt.request(source), ()
    if reads.sound and not (reads.text or reads.image) and model.sound is None:
        raise ValueError(
            f"{model.name} states no feature extractor (preprocessor_config.json): use a notebook,"
            " and pass its own inputs"
        )
    text, notes = _text(model, reads) if reads.text else (None, ())
    if text == "":
        return None, notes
    target = _target(model) if reads.target else None
    language = session.get(PAGE, "language") if model.languages else ""
    if reads.image:
        if entries.beside is not None:
            with entries.beside:
                preprocessing.choose(source, model)
        beside = text[0] if isinstance(text, tuple) else text
        given = Picture(pictures.current(PAGE), preprocessing.changes(model), beside)
        return TraceRequest(source, given, target), notes
    if text is None:
        return TraceRequest(source, Recording(recordings.current()), target), notes
    if isinstance(text, str) and prompts.is_mean() and not reads.target:
        several = [_turn(source, model, reads, each) for each in prompts.listed()]
        counts = [compute.length(TraceRequest(source, each), model) for each in several]
        if len({*counts}) == 1:
            return TraceRequest(source, Several(tuple(several))), notes
        apart = (
            f"No mean of prompts of {min(counts):,} to {max(counts):,} tokens: it needs equally"
            " many. This is the whole text."
        )
        notes = (*notes, apart)
    elif prompts.is_mean() and not reads.target:
        notes = (*notes, "No mean of pairs: clear the second sentence.")
    if isinstance(text, str):
        text = _turn(source, model, reads, text)
    return TraceRequest(source, text, target, language=language), notes


def writer(model: "Model") -> Any:
    """The tokenizer of the decoder."""
    return model.target_tokenizer or model.tokenizer


def chats(reads: Reads, model: "Model | None" = None) -> bool:
    """Whether the text is a turn of a chat."""
    return session.get(PAGE, "chat") == "yes" and has_template(reads, model)


def _line(name: str, label: str, width: int | Literal["stretch"] = "stretch") -> None:
    """An entry of one line whose label stands in it while it is empty."""
    entry.text(PAGE, name, label, placeholder=label, bare=True, width=width)


def _language(model: "Model") -> None:
    """The choice of the language that a translator writes in; "" as its checkpoint has it."""
    codes = {code: code for code in (session.get(PAGE, "language"), *model.languages)}
    titles = {**codes, "": "Target language"}
    controls.select(PAGE, "language", "Target language", titles, "", width=180, collapsed=True)


def _text(model: "Model", reads: Reads) -> tuple[str | tuple[str, str] | Ids, tuple[str, ...]]:
    """The text, pair or ids, and notes on what was changed; "" for an empty text."""
    if model.tokenizer is None:
        return _ids("ids"), ()
    settings, reader = session.current(PAGE).settings, model.tokenizer
    most = min(model.limit, MAX_TOKENS)
    text, notes = reading.readable(settings["input"], lambda: (reader, most))
    pair = _clean(settings["pair"]).strip() if reads.pair and text else ""
    if not pair:
        return text, tuple(notes)
    _check_length(len(reader.encode(text, pair)))
    return (text, pair), tuple(notes)


def _target(model: "Model") -> str | Ids | None:
    """The target of the decoder; None generates it."""
    if writer(model) is None:
        return _ids("target_ids") if session.get(PAGE, "target_ids").strip() else None
    return _clean(session.get(PAGE, "target")).strip() or None


def _ids(name: str) -> Ids:
    numbers = reading.numbers_in(session.get(PAGE, name))
    _check_length(len(numbers))
    return Ids(tuple(numbers))


def _turn(source: Source, model: "Model", reads: Reads, text: str) -> str | Chat:
    """A text; in a chat the user's turn, and how the model's begins."""
    if not chats(reads, model):
        return text
    turn = Chat(text, _clean(session.get(PAGE, "answer")))
    _check_length(compute.length(TraceRequest(source, turn), model))
    return turn


def _check_length(count: int) -> None:
    if count > MAX_TOKENS:
        raise ValueError(
            f"this text has {count:,} tokens, and the limit here is {MAX_TOKENS:,}: shorten it,"
            " or trace it in a notebook"
        )


def _clean(text: str) -> str:
    return clean(text)[0]

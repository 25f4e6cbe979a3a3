"""What the page's model reads: a text, a pair, ids, a picture, a recording, a decoder's target."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from models.catalogue import entry as catalogue_entry
from models.request import Chat, Ids, Picture, Reads, Recording, Several, Source, TraceRequest
from models.text import clean
from viz.api import reading, samples
from viz.pages import compute, shared
from viz.pages.explore import (
    examples,
    pictures,
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
from viz.pages.widgets import controls, entry

if TYPE_CHECKING:
    from models.model import Model

MAX_TOKENS = 16_384  # limit of the page; notebooks have none
SENTENCE = "Type a sentence; the picture follows"
PAIR = "Second sentence (optional)"
PAIRED = ("minilm",)  # models of the catalogue that read two sentences


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


def row(reads: Reads, model: "Model | None" = None) -> None:
    """Draws the input, all of it in one row.

    Args:
        reads: what the model reads.
        model: open; None for one of the list, which has a tokenizer.
    """
    if reads.asked:
        prompt.row()
    elif reads.text and model is not None and model.tokenizer is None:
        _line("ids", "Token ids, such as 1 5 9 2: this model has no tokenizer")
    elif reads.text:
        hint = "Type a sentence or paste a text; the picture follows"
        entry.text(PAGE, "input", SENTENCE, placeholder=hint, multiline=True, bare=True)
        if reads.pair and session.get(PAGE, "pair"):
            _line("pair", PAIR, width=250)
        if chats(reads, model):
            _line("answer", "Beginning of the answer (optional)", width=250)
    if reads.target:
        ids = model is not None and writer(model) is None
        name, what = ("target_ids", "Target ids") if ids else ("target", "Target")
        _line(name, f"{what} (leave empty to generate)", width=280)
        if model is not None and model.languages:
            _language(model)
    if reads.image:
        pictures.chip(examples.title())
    elif reads.sound and not reads.text:
        recordings.row()


def options(reads: Reads, model: "Model") -> None:
    """Draws what is seldom changed about the input, over the page.

    Args:
        reads: what the model reads.
        model: open.
    """
    if reads.asked:
        prompt.options(model)
    elif reads.text and not reads.image and not reads.target and model.tokenizer is not None:
        prompts.choose()
    if reads.text:
        words.choose(chat=has_template(reads, model))
    if reads.pair and not session.get(PAGE, "pair"):
        _line("pair", PAIR)
    if reads.image:
        preprocessing.choose(model)


def problems(reads: Reads) -> None:
    """Says which files a link lacks, or were refused."""
    problems = pictures.UPLOADED.problems("A photo") if reads.image else []
    if reads.sound and not (reads.text or reads.image):
        problems = recordings.UPLOADED.problems("An example")
    for problem in problems:
        shared.error_line(problem)


def has_template(reads: Reads, model: "Model | None" = None) -> bool:
    """Whether the text may be a turn of a chat; of a model of the list, without opening it."""
    if not reads.text or reads.image or reads.sound or reads.target:
        return False
    if model is None:
        return words.has_template(source.listed())
    return model.prompts is not None and model.prompts.template is not None


def request(
    source: Source, model: "Model", reads: Reads
) -> tuple[TraceRequest | None, tuple[str, ...]]:
    """What the entries ask for, None for an empty text; and notes on what was changed in them.

    Raises:
        ValueError: in one line, for an input that cannot be read.
    """
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
        preprocessing.settle(source)
        beside = text[0] if isinstance(text, tuple) else text
        given = Picture(pictures.current(), preprocessing.changes(model), beside)
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

"""What is asked of the page's model: a text, a pair, ids, a picture, a recording, a question."""

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Literal

import streamlit as st

from models.catalogue import entry as catalogue_entry
from models.request import (
    Chat,
    File,
    Ids,
    Items,
    Picture,
    Question,
    Reads,
    Recording,
    Source,
    TraceRequest,
)
from models.text import clean
from viz.api import samples
from viz.pages import compute, shared
from viz.pages.explore import examples, files
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.model import Model

MAX_TOKENS = 16_384  # limit of the page; notebooks have none
PAIRED = ("minilm",)  # models of the catalogue that read two sentences
SENTENCE = "Type a sentence; the picture follows"
PAIR = "Second sentence (optional)"
LABELS = {
    "question": "Ask about the picture",
    "answer": "Answer (leave empty to let the model write)",
}
ASKED = {"one": "This picture", "every": "All your pictures", "video": "As a video"}
SCALABLE = ("dinov2", "dinov2_with_registers")  # model types that interpolate their positions
LOWEST, HIGHEST = 224, 1036  # pixels a side of their pictures
WORDS = (
    "Of a word of several tokens, attention to its tokens is summed and attention from its tokens"
    " is averaged. Words are those of Unicode’s rules"
)
CHAT = (
    "The text is the user’s turn in the model’s chat template, up to where the model’s answer"
    " begins; the tokens of the template are shown as well"
)


def params(listed: str) -> tuple[link.Param, ...]:
    """The page's inputs.

    Args:
        listed: the model of the list; "" for any other. Its first example is the default.
    """
    text, target, photo = examples.first(listed)
    words = link.choice("words", "no", ("no", "yes"), replaced={"sentences": "yes"})
    return (
        link.text("input", text),
        link.text("pair", ""),
        link.text("target", target),
        link.text("language", ""),
        link.text("ids", "1 2 3 4 5"),
        link.text("target_ids", ""),
        link.choice("photo", photo, samples.PICTURES),
        *files.PARAMS,
        link.number("pixels", 0, 0, HIGHEST),
        link.text("question", "What is in this picture?"),
        link.text("answer", ""),
        link.choice("asked_about", "one", ASKED),
        words,
        link.choice("chat", "no", ("no", "yes")),
    )


def known(listed: str) -> Reads | None:
    """What a model of the list reads, before it is open; None for any other model."""
    if not listed:
        return None
    about = catalogue_entry(listed)
    kinds = (about.reads == kind for kind in ("text", "image", "sound"))
    return Reads(*kinds, target=about.kind in ("seq2seq", "speech"), pair=listed in PAIRED)


def whole_words() -> bool:
    """Whether weights are between whole words."""
    return session.get(PAGE, "words") == "yes"


# ---- widgets


def row(reads: Reads, model: "Model | None") -> None:
    """Draws the input, all of it in one row.

    Args:
        reads: what the model reads.
        model: once it is open; one that is opened without this row before it may lack a tokenizer.
    """
    if reads.asked:
        for name, label in LABELS.items():
            _line(name, label)
    elif reads.text and model is not None and model.tokenizer is None:
        _line("ids", "Token ids, such as 1 5 9 2: this model has no tokenizer")
    elif reads.text:
        hint = "Type a sentence or paste a text; the picture follows"
        controls.entry(PAGE, "input", SENTENCE, placeholder=hint, multiline=True, bare=True)
        if reads.pair and session.get(PAGE, "pair"):
            _line("pair", PAIR, width=250)
        if session.get(PAGE, "chat") == "yes" and _may_chat(reads, model):
            _line("answer", "Beginning of the answer (optional)", width=250)
    if reads.target:
        ids = model is not None and _writer(model) is None
        name, what = ("target_ids", "Target ids") if ids else ("target", "Target")
        _line(name, f"{what} (leave empty to generate)", width=280)
        if model is not None and model.languages:
            named = dict.fromkeys((session.get(PAGE, "language"), *model.languages))
            titles = {code: code or "Target language" for code in (*named, "")}
            label = "Target language"
            controls.select(PAGE, "language", label, titles, "", width=180, collapsed=True)
    if reads.image:
        files.picture_chip(examples.title())
    elif reads.sound and not reads.text:
        files.recording_chip()


def options(reads: Reads, model: "Model") -> None:
    """Draws what is seldom changed about the input, over the page."""
    if reads.asked:
        _question_options(model)
    if reads.text:
        controls.toggle(PAGE, "words", "Whole words", WORDS)
        if _may_chat(reads, model):
            controls.toggle(PAGE, "chat", "Chat", CHAT)
    if reads.pair and not session.get(PAGE, "pair"):
        _line("pair", PAIR)
    if reads.image and (patch := _patch(model)):
        help = "Side of the picture that the model reads; the cost grows with its fourth power"
        span = LOWEST - LOWEST % patch, HIGHEST - HIGHEST % patch
        controls.slider(PAGE, "pixels", "Pixels a side", span, help, step=patch, width=276)


def problems(reads: Reads) -> None:
    """Says which files a link lacks, or were refused."""
    upload = files.PICTURE if reads.image else None if reads.text else files.RECORDING
    for problem in upload.problems() if upload else ():
        shared.error_line(problem)


def _line(name: str, label: str, width: int | Literal["stretch"] = "stretch") -> None:
    """An entry of one line whose label stands in it while it is empty."""
    controls.entry(PAGE, name, label, placeholder=label, bare=True, width=width)


def _question_options(model: "Model") -> None:
    """Draws which pictures are asked about, and what the model reads."""
    several = len(files.pictures()) > 1
    is_video = (several or files.animation() is not None) and compute.reads_videos(model)
    possible = {"one": True, "every": several, "video": is_video}
    now = session.get(PAGE, "asked_about")
    offered = {name: ASKED[name] for name in ASKED if possible[name] or name == now}
    if len(offered) > 1:
        help = "One picture, or all that you opened, in order: one by one, or as frames"
        controls.choice(PAGE, "asked_about", "Pictures", offered, help)
    st.caption("What the model reads; each <image> expands into its tokens:")
    data = [file.data for file in _asked_about()]
    given: dict[str, Any] = {"video": compute.Video(data)} if _is_video() else {"images": data}
    try:
        prompt = compute.Prompt(session.get(PAGE, "question"), **given)
        written = compute.in_template(model, prompt)
    except ValueError as error:
        written = str(error)
    st.code(written, language=None, wrap_lines=True)


# ---- the request


def request(
    source: Source, model: "Model", reads: Reads
) -> tuple[TraceRequest | None, tuple[str, ...]]:
    """What the entries ask for, None for an empty text; and notes on what was changed in them.

    Raises:
        ValueError: in one line, for an input that cannot be read.
    """
    if reads.asked:
        question, answer = (session.get(PAGE, name).strip() for name in LABELS)
        asked = Question(question, _asked_about(), _is_video())
        return (TraceRequest(source, asked, answer or None) if question else None), ()
    if reads.sound and not (reads.text or reads.image) and model.sound is None:
        raise ValueError(
            f"{model.name} states no feature extractor (preprocessor_config.json): use a notebook,"
            " and pass its own inputs"
        )
    given: Any
    given, notes = _text(model, reads) if reads.text else (None, ())
    if given == "":
        return None, notes
    if reads.image:
        beside = given[0] if isinstance(given, tuple) else given
        given = Picture(files.picture(), _changes(model), beside)
    elif given is None:
        given = Recording(files.recording())
    elif isinstance(given, str) and session.get(PAGE, "chat") == "yes" and _may_chat(reads, model):
        given = Chat(given, _clean("answer"))
        _check_length(compute.length(TraceRequest(source, given), model))
    target = _target(model) if reads.target else None
    language = session.get(PAGE, "language") if model.languages and not reads.image else ""
    return TraceRequest(source, given, target, language=language), notes


def _may_chat(reads: Reads, model: "Model | None") -> bool:
    """Whether the text may be a turn of a chat, as far as is known before the model is open."""
    if not reads.text or reads.image or reads.sound or reads.target:
        return False
    return model is None or (model.prompts is not None and model.prompts.template is not None)


def _writer(model: "Model") -> Any:
    """The tokenizer of the decoder."""
    return model.target_tokenizer or model.tokenizer


def _text(model: "Model", reads: Reads) -> tuple[str | tuple[str, str] | Ids, tuple[str, ...]]:
    """The text, pair or ids, and notes on what was changed; "" for an empty text.

    A text over the model's limit is cut off behind a word.
    """
    reader, limit, notes = model.tokenizer, min(model.limit, MAX_TOKENS), list[str]()
    if reader is None:
        return _ids("ids"), ()
    text, removed = clean(session.get(PAGE, "input"))
    if removed:
        notes.append(f"{removed} control characters were removed: no model can read them.")
    if not text.strip():
        return "", (*notes,)
    tokens = reader.encode(text)
    if len(tokens) > limit:
        notes.append(
            f"The text has {len(tokens):,} tokens and the model takes at most {limit:,}: only the"
            " beginning is shown."
        )
        text = compute.fit(text, reader, limit)
        tokens = reader.encode(text)
    notes += _remarks(tokens.labels)
    if not (reads.pair and (pair := _clean("pair").strip())):
        return text, (*notes,)
    _check_length(len(reader.encode(text, pair)))
    return (text, pair), (*notes,)


def _remarks(labels: tuple[str, ...]) -> list[str]:
    """Notes on unknown pieces and right-to-left text."""
    notes = []
    unknown = [label.removesuffix(" [UNK]") for label in labels if label.endswith(" [UNK]")]
    if unknown:
        named = ", ".join(f"“{piece[:20]}”" for piece in list(dict.fromkeys(unknown))[:5])
        notes.append(
            f"The model’s vocabulary has no piece for {named}: all of them become the same [UNK]"
            " token."
        )
    if any(unicodedata.bidirectional(c) in ("R", "AL") for label in labels for c in label):
        notes.append("Right-to-left text: tokens are shown in reading order, the first one first.")
    return notes


def _target(model: "Model") -> str | Ids | None:
    """The target of the decoder; None generates it."""
    if _writer(model) is None:
        return _ids("target_ids") if session.get(PAGE, "target_ids").strip() else None
    return _clean("target").strip() or None


def _ids(name: str) -> Ids:
    """Typed ids; ValueError for anything but whole numbers."""
    text = session.get(PAGE, name)
    words = re.findall(r"[^\s,;]+", text)
    if not words or not all(word.isascii() and word.isdigit() and len(word) < 9 for word in words):
        raise ValueError(f"token ids: expected numbers such as 1 5 9 2, received “{text[:40]}”")
    _check_length(len(words))
    return Ids(tuple(map(int, words)))


def _check_length(count: int) -> None:
    if count > MAX_TOKENS:
        raise ValueError(
            f"this text has {count:,} tokens, and the limit here is {MAX_TOKENS:,}: shorten it,"
            " or trace it in a notebook"
        )


def _clean(name: str) -> str:
    return clean(session.get(PAGE, name))[0]


def _is_video() -> bool:
    return session.get(PAGE, "asked_about") == "video" and bool(files.pictures())


def _asked_about() -> tuple[File, ...]:
    """The pictures that are asked about, or the frames of a video, in order."""
    asked, uploads = session.get(PAGE, "asked_about"), tuple(files.pictures().values())
    if asked == "video" and (animation := files.animation()):
        return (animation,)
    return uploads if asked != "one" and len(uploads) > 1 else (files.picture(),)


def _patch(model: "Model") -> int:
    """Side of a patch of a model that reads pictures of any size; 0 for any other model."""
    stated, config = model.preprocessing, model.network.config
    scales = stated is not None and stated.size and getattr(config, "model_type", "") in SCALABLE
    return config.patch_size if scales else 0


def _changes(model: "Model") -> Items:
    """What is changed of the preprocessing, as arguments of `models.preprocessing.changed`."""
    patch, side = _patch(model), session.get(PAGE, "pixels")
    return (("size", side - side % patch),) if patch and side else ()

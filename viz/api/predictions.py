"""What a network predicts: the next token, the masked one, or a class; and the same in Python."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from models.text import Decoding
from viz.api.endpoint import QuestionError, endpoint
from viz.api.entries import TraceEntry, tokens_of
from viz.api.writing import sampling_of

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from analysis.outputs import Vocabulary
    from models.output import Sampling
    from models.trace import Trace

NAMED = 4  # of the likeliest, in a line
SOFTMAX = "The softmax of the logits at this position; it sums to 1 over the vocabulary."
DRAWN = "What a token is drawn by: temperature, then top-k, then top-p of the logits."
MEANS = {  # what the probabilities at a token predict
    "encoder": "what the model answers at",
    "decoder": "what comes after",
    "seq2seq": "what is written after",
}
WRITES = "The model writes, greedily"
GIVEN = "Given that target, the likeliest tokens are"


@dataclass(frozen=True)
class OutputChange:
    """What edits did to a prediction.

    Attributes:
        labels: of the likeliest tokens or classes of both passes.
        before: their probabilities without the edits.
        after: those with them.
        kl: divergence of all probabilities, in nats.
        repeat: the loss over a repeat at the end of the text, without the edits and with them; None
            where there is none.
    """

    labels: list[str]
    before: list[float]
    after: list[float]
    kl: float
    repeat: tuple[float, float] | None


@dataclass(frozen=True)
class Predictions:
    """The likeliest tokens at a position, or classes of the whole input.

    Attributes:
        title: of a table of them.
        lead: words, and the token that they are about; "" for the whole input.
        labels: of the tokens or classes.
        values: each as the text of an output that can be explained.
        ids: of each.
        probabilities: of each.
        note: what the probabilities are.
        change: by edits; None without any, and where the two passes read other tokens.
        position: of the token; None for classes.
        written: words, and what an encoder–decoder wrote; None of other networks.
        masks: where several masks stand in the view; None for one that is hidden.
        mask: which of them this is about, from 0.
    """

    title: str
    lead: tuple[str, str]
    labels: list[str]
    values: list[str]
    ids: list[int]
    probabilities: list[float]
    note: str
    change: OutputChange | None = None
    position: int | None = None
    written: tuple[str, str] | None = None
    masks: tuple[int | None, ...] = ()
    mask: int | None = None


@dataclass(frozen=True)
class Code:
    """Python code."""

    code: str


@endpoint("predictions", explains=False)
def predictions(
    entry: TraceEntry,
    site: int,
    direction: str,
    token: int | None = None,
    temperature: float | None = None,
    top_k: int = 0,
    top_p: float = 1.0,
) -> Predictions | None:
    """The most likely tokens at the selected position, or classes; None without either.

    Args:
        entry: the trace.
        site: whose row or column is selected.
        direction: whether the token attends, or is attended to.
        token: its place in the view. Where none is selected, or one of a text that is not
            predicted, it is about the last one.
        temperature: of how a token is drawn; with None, top_k and top_p it is not.
        top_k: how many tokens are kept; 0 for all.
        top_p: how much probability is kept at least.
    """
    from analysis.view import JOINT, View

    where, view = entry.view.sites[site], entry.view
    how = (1.0 if temperature is None else temperature, top_k, top_p)
    sampling = None if temperature is None and how == (1.0, 0, 1.0) else sampling_of(*how)
    count = where.queries if direction == "out" else where.keys
    if token is not None and token >= count:
        raise QuestionError(f"expected token 0 to {count - 1}")
    known = _vocabulary(entry)
    if known is None:
        return _classes(entry)
    if isinstance(view, View) and where.kind == JOINT:
        parts = view.joint_parts(where)
        source = len(view.queries(parts.encoder)[0])
        token = None if token is None or token < source else token - source
        site, direction = view.trace.sites.index(parts.decoder), "out"
    if token is not None:
        token = tokens_of(view, site, direction)[token][-1]
    return _tokens(entry, known, site, direction, token, sampling)


def predicts(entry: TraceEntry) -> bool:
    """Whether there are predictions."""
    return _vocabulary(entry) is not None or _classes(entry) is not None


def _vocabulary(entry: TraceEntry) -> "Vocabulary | None":
    from analysis.outputs import vocabulary_of

    model = entry.model
    return None if model is None or not model.trained else vocabulary_of(model, entry.trace)


def _tokens(
    entry: TraceEntry,
    known: "Vocabulary",
    site: int,
    direction: str,
    token: int | None,
    sampling: "Sampling | None",
) -> Predictions:
    from analysis.outputs import likeliest
    from analysis.target import Target, mask_id, text_of
    from models.output import Sampling

    trace, model = entry.trace, entry.model
    if model is None:
        raise ValueError("expected a model with predictions")
    place = token if _is_predicted(trace, site, direction) else None
    place = _usual(entry, known) if place is None else place
    top = likeliest(trace, place, sampling=sampling or Sampling())
    label, means = _predicted(trace)[0].labels[place], MEANS[known.kind]
    masks = list[int]()
    if known.kind == "encoder" and trace.tokens[0].ids.count(mask := mask_id(model)) > 1:
        masks = [at for at, id in enumerate(trace.tokens[0].ids) if id == mask]
    words = tokens_of(entry.view, site, direction)
    return Predictions(
        f"{trace.model} · {means} “{label.strip() or label}” (position {place})",
        (means.capitalize(), label),
        [known.name(number) for number in top.ids],
        [text_of(model, trace, Target(id, place)) for id in top.ids],
        [*top.ids],
        [*top.probabilities],
        SOFTMAX if sampling is None else DRAWN,
        _change_at(entry, place, known.name),
        place,
        _written(entry) if known.kind == "seq2seq" else None,
        tuple(next((at for at, word in enumerate(words) if mask in word), None) for mask in masks),
        masks.index(place) if place in masks else None,
    )


def _classes(entry: TraceEntry) -> Predictions | None:
    """The likeliest classes of a classifier that answers one question."""
    from analysis.outputs import likeliest

    model, trace, logits = entry.model, entry.trace, entry.trace.output.values
    if model is None or not model.trained or model.questions or trace.output.name != "logits":
        return None
    if logits.ndim != 2 or logits.shape[1] < 2:
        return None
    count, several = logits.shape[1], model.multi_label
    names = model.classes if len(model.classes) == count else ()
    top = likeliest(trace, independent=several)
    note = (
        "The sigmoid of each logit: the input may belong to several classes."
        if several
        else f"The softmax of the logits; it sums to 1 over the {count:,} classes."
    )

    def name(id: int) -> str:
        return names[id] if names else f"class {id}"

    return Predictions(
        f"{trace.model} · the likeliest of {count:,} classes",
        ("Class", ""),
        [name(id) for id in top.ids],
        [name(id) if names else str(id) for id in top.ids],
        [*top.ids],
        [*top.probabilities],
        note if names else f"{note} The model's config states no names.",
        None if several else _change_at(entry, -1, name),
    )


def _change_at(entry: TraceEntry, place: int, name: Callable[[int], str]) -> OutputChange | None:
    from analysis.outputs import change

    if entry.before is None:
        return None
    before, after = entry.before().trace, entry.trace
    if place >= 0:
        first, second = (_predicted(each)[0].ids[: place + 1] for each in (before, after))
        if first != second:
            return None
    moved = change(before, after, place, count=NAMED - 1)
    shares = zip(moved.ids, moved.before, moved.after, strict=True)
    likeliest = sorted(shares, key=lambda each: -max(each[1:]))
    ids, first, second = map(list, zip(*likeliest, strict=True))
    return OutputChange([name(id) for id in ids], first, second, moved.kl, _repeat(before, after))


def _repeat(before: "Trace", after: "Trace") -> tuple[float, float] | None:
    from analysis.outputs import repeat_loss

    same = before.tokens[0].ids == after.tokens[0].ids
    if not same or any(site.kind != "causal" for site in after.sites):
        return None
    first, second = map(repeat_loss, (before, after))
    return None if first is None or second is None else (first, second)


def _written(entry: TraceEntry) -> tuple[str, str] | None:
    """What an encoder–decoder wrote, or would write at each token of a target."""
    from analysis.outputs import top_ids

    model, trace = entry.model, entry.trace
    reader = model and (model.target_tokenizer or model.tokenizer)
    if trace.target_tokens is None or not isinstance(reader, Decoding):
        return None
    ids = top_ids(trace) if _is_given(entry) else trace.target_tokens[0].ids[1:]
    tokens = reader.spelled(ids)
    pairs = zip(tokens.labels, tokens.special, strict=True)
    letters = [label for label, special in pairs if not special]
    text = "".join(letters) if all(len(each) == 1 for each in letters) else reader.text(ids)
    return GIVEN if _is_given(entry) else WRITES, text.strip()


def _is_given(entry: TraceEntry) -> bool:
    """Whether the text of an encoder–decoder was given, not written by the model."""
    return entry.request is not None and entry.request.target is not None


def _usual(entry: TraceEntry, known: "Vocabulary") -> int:
    """The place where none is chosen; of texts written by two passes, before they part."""
    if entry.before is None or entry.trace.target_tokens is None:
        return _last_word(entry, known)
    both = (_predicted(each)[0].ids for each in (entry.before().trace, entry.trace))
    pairs = zip(*both, strict=False)
    parted = (place - 1 for place, (first, second) in enumerate(pairs) if first != second)
    return next(parted, _last_word(entry, known))


def _last_word(entry: TraceEntry, known: "Vocabulary") -> int:
    """The last place; of a text that the model wrote itself, that before its last word."""
    if known.kind != "seq2seq" or _is_given(entry):
        return known.place
    labels = _predicted(entry.trace)[0].labels
    words = [place for place, label in enumerate(labels) if any(map(str.isalnum, label))]
    return max(words[-1] - 1, 0) if words else known.place


def _predicted(trace: "Trace") -> Any:
    return trace.tokens if trace.target_tokens is None else trace.target_tokens


def _is_predicted(trace: "Trace", site: int, direction: str) -> bool:
    """Whether the rows or columns of a site are tokens of the predicted text."""
    where = trace.sites[site]
    if trace.target_tokens is not None:
        return where.tower == "decoder" and (direction == "out" or where.kind != "cross")
    return (trace.queries(where) if direction == "out" else trace.keys(where)) is trace.tokens


# ---- of a network without words: the numbers that stand for its whole input


CLASS = "[CLS]"


@dataclass(frozen=True)
class Vector:
    """The vector of an input, of length 1.

    Attributes:
        values: its numbers.
        of: what the input is.
        like: after edits its cosine with that before them.
    """

    values: "Float[Tensor, 'number']"
    of: str
    like: float | None


@endpoint("vector")
def vector(entry: TraceEntry) -> Vector:
    """The vector of the input, with length 1, and after edits its cosine with that before them.

    Raises:
        ValueError: for a network that answers with words or classes.
    """
    numbers = _numbers(entry)
    before = None if entry.before is None else _numbers(entry.before())
    like = None if before is None else float(numbers.double() @ before.double())
    return Vector(numbers, _noun(entry), like)


def _numbers(entry: TraceEntry) -> "Tensor":
    """The state of the class token of a picture, else the mean of all tokens' states."""
    from analysis.target import embedding_of

    output = entry.trace.output
    whole = embedding_of(output)
    states = output.of_item()
    if not entry.patches or states.ndim != 2 or entry.trace.tokens[0].labels[0] != CLASS:
        return whole
    return states[0] / states[0].norm()


def _noun(entry: TraceEntry) -> str:
    if entry.patches:
        return "picture"
    return "sentence" if entry.trace.sound is None else "recording"

"""A text that a decoder goes on with, and the cache that it reads meanwhile."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from viz.api.endpoint import QuestionError, endpoint
from viz.api.entries import TraceEntry
from viz.api.pool import report
from viz.api.rerun import opened

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from models.model import Model

MOST = 64  # tokens that are written at once
MOST_ROWS = 256  # steps of one answer about the cache
DIFFERS = "Read again, the text has other tokens than those that were written."


@dataclass(frozen=True)
class WrittenAnswer:
    """The whole text, the part of it that a decoder wrote, its tokens and their probabilities.

    The note says where a tokenizer reads the text as other tokens.
    """

    text: str
    written: str
    tokens: list[str]
    probabilities: tuple[float, ...]
    note: str


@dataclass(frozen=True, eq=False)
class CacheAnswer:
    """The weight that each token in the cache receives, the mean over all heads.

    For each step from the first on the probability of what came next, and a row of weights.
    """

    first: int
    probabilities: list[float]
    rows: "list[Float[Tensor, 'key']]"


@endpoint("written", "text", slow=True)
def written(
    entry: TraceEntry,
    count: int,
    temperature: float = 0.0,
    top_k: int = 0,
    top_p: float = 1.0,
    seed: int = 0,
) -> WrittenAnswer:
    """What the model goes on with under the edits of the trace; at temperature 0 the likeliest.

    Fewer tokens than `count` where the model ends the text, or has no more room.
    """
    from analysis.generation import continue_text
    from models.text import Decoding

    if not 1 <= count <= MOST:
        raise QuestionError(f"expected count 1 to {MOST}")
    sampling = sampling_of(temperature, top_k, top_p) if temperature else None
    with opened(entry) as (model, given, target):
        reader = model.tokenizer
        if target is not None or not isinstance(given, str) or not isinstance(reader, Decoding):
            raise ValueError(f"{model.name} goes on with no text here: expected a decoder’s text")
        how: dict[str, Any] = {"sampling": sampling, "seed": seed, "edits": entry.trace.edits}
        result = continue_text(model, given, count, progress=report, **how)
    ids = _before_end(reader, result.ids)
    if not ids:
        raise ValueError("the model ends the text here: it writes nothing more")
    text, same = _joined(reader, given, result.begun, ids)
    tokens = list(reader.spelled((*result.begun, *ids)).labels[len(result.begun) :])
    shares, note = result.probabilities[: len(ids)], "" if same else DIFFERS
    return WrittenAnswer(text, text[len(given) :], tokens, shares, note)


def sampling_of(temperature: float = 1.0, top_k: int = 0, top_p: float = 1.0) -> Any:
    """How a token is drawn.

    Raises:
        QuestionError: for numbers out of range.
    """
    from models.output import Sampling

    try:
        return Sampling(temperature, top_k, top_p)
    except ValueError as error:
        raise QuestionError(str(error)) from None


@endpoint("cache", "text", slow=True)
def cache(entry: TraceEntry, first: int) -> CacheAnswer:
    """What each token in the cache receives; at the first one the first step wrote the next."""
    from analysis.generation import received
    from models.edits import reads_all_tokens

    trace = entry.trace
    if reads_all_tokens(trace.edits):
        raise ValueError("the edits depend on later tokens too: this pass does not show the steps")
    ids = trace.tokens[0].ids
    if trace.target_tokens is not None or any(site.kind != "causal" for site in trace.sites):
        raise ValueError("expected the text of a decoder")
    if not first < len(ids) - 1:
        raise QuestionError(f"expected first 0 to {len(ids) - 2}")
    steps = [*enumerate(ids[first + 1 : first + 1 + MOST_ROWS], first)]

    def compute() -> CacheAnswer:
        rows = received(trace, [place for place, _ in steps])
        shares = [float(trace.output.logits_of(place).softmax(-1)[id]) for place, id in steps]
        given = zip(rows, steps, strict=True)
        return CacheAnswer(first, shares, [row[: place + 1] for row, (place, _) in given])

    return entry.answers.once(("cache", first), compute)


def writes(model: "Model") -> bool:
    """Whether a model can go on with a text."""
    from models.inputs.generation import reader_of
    from models.text import Decoding

    try:
        reader_of(model)
    except ValueError:
        return False
    return isinstance(model.tokenizer, Decoding)


def given_of(model: "Model", text: str, characters: int) -> int | None:
    """How many tokens lie in the first characters of a text; None if all do, or none."""
    from models.text import Decoding

    if not isinstance(model.tokenizer, Decoding):
        return None
    spans = model.tokenizer.encode(text).spans
    ends = (place for place, span in enumerate(spans) if span is not None and span[1] > characters)
    return next(ends, None) or None


def _before_end(reader: Any, ids: tuple[int, ...]) -> tuple[int, ...]:
    """The ids before the first special one, which ends a text."""
    special = reader.spelled(ids).special
    return ids[: special.index(True)] if True in special else ids


def _joined(
    reader: Any, text: str, begun: tuple[int, ...], ids: tuple[int, ...]
) -> tuple[str, bool]:
    """A text with what was written after it, and whether it is read as the same tokens."""
    more = reader.text(ids)
    whole = reader.text((*begun, *ids))
    joined = [whole] if whole.startswith(text) else []
    joined += [text + more, f"{text} {more}"]
    same = (
        each
        for each in joined
        if reader.encode(each).ids[: len(begun) + len(ids)] == (*begun, *ids)
    )
    first = next(same, None)
    return (joined[0], False) if first is None else (first, True)

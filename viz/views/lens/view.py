"""What each layer would predict at each token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz.api.endpoint import QuestionError, endpoint, path_of
from viz.api.entries import TraceEntry
from viz.api.pool import report
from viz.api.rerun import logit_of, name_in, with_hidden
from viz.api.text import without_parts
from viz.colours import INK, Scale
from viz.selection import Form
from viz.views.answer import Answer, Table, digits
from viz.views.request import Request

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from torch import Tensor

    from models.text import Tokens
    from viz.paper import Page

VIEW = Form(
    "lens",
    "Lens",
    "What each layer would predict at each token, had the network ended there",
    place=7,
    options=("lens", "output"),
    grouped=False,
    covers="layers",
    runs=True,
    module="lens",
)
LENSES = {
    "logit": "Logit lens: the state that leaves each layer, through the final norm and unembedding",
    "jacobian": (
        "Jacobian lens: the state that leaves each layer, carried to the last one by the mean"
        " Jacobian of this text, then through the final norm and unembedding"
    ),
}
DOUBT = (
    "A lens shows what a state would make the network write, not that later layers read it so;"
    " early layers may hold the same in other directions."
)
WINDOW = 24  # tokens of a lens in one answer


# ---- numbers


@dataclass(frozen=True, eq=False)
class Lens:
    """The likeliest token of each state at some of the `tokens`, from the `first` on.

    The first state is the embedding, the last the output.
    """

    layers: list[str]
    tokens: int
    first: int
    labels: Sequence[str]
    ids: "Int[Tensor, 'state token']"
    names: list[list[str]]
    probabilities: "Float[Tensor, 'state token']"


@dataclass(frozen=True, eq=False)
class LensRanks:
    """The rank and probability of one token in each state, at the position of the output."""

    id: int
    name: str
    position: int
    layers: list[str]
    ranks: list[int]
    probabilities: list[float]


@endpoint("lens", "text", slow=True)
def lens(entry: TraceEntry, first: int = 0, lens: str = "logit") -> Lens:
    """The likeliest token of each layer at `WINDOW` tokens."""
    import torch

    tokens = _tokens(entry)
    if first >= len(tokens):
        raise QuestionError(f"expected first 0 to {len(tokens) - 1}")
    places = range(first, min(first + WINDOW, len(tokens)))

    def compute() -> Lens:
        read = [each.softmax(-1).max(-1) for each in _by_layer(entry, lens, places)]
        ids = torch.stack([each.indices for each in read])
        names = [[name_in(entry, id) for id in row] for row in ids.tolist()]
        shares = torch.stack([each.values for each in read])
        labels = [tokens.labels[place] for place in places]
        return Lens(_layers(len(read)), len(tokens), first, labels, ids, names, shares)

    return entry.answers.once(("lens", lens, first), compute)


@endpoint("ranks", "text", slow=True)
def ranks(entry: TraceEntry, output: str = "", lens: str = "logit") -> LensRanks:
    """The rank and probability of the output by layer."""
    target, id = logit_of(entry, output)
    place = target.position
    if place is None:
        raise ValueError("a lens reads tokens; All layers shows what a class rests on")

    def compute() -> LensRanks:
        read = [logits[0] for logits in _by_layer(entry, lens, [place])]
        counts = [1 + int((logits > logits[id]).sum()) for logits in read]
        shares = [float(logits.softmax(-1)[id]) for logits in read]
        return LensRanks(id, name_in(entry, id), place, _layers(len(read)), counts, shares)

    return entry.answers.once(("ranks", lens, output), compute)


@endpoint("refused", "text")
def refused(entry: TraceEntry) -> dict[str, str]:
    """Why a form does not apply to this trace, by the name of the form; {} if all do."""
    from analysis.target import kind_of

    trace, kind = entry.trace, kind_of(entry.trace.output)
    reasons: dict[str, str] = {}
    if why := without_parts(trace):
        reasons |= dict.fromkeys(("head", "parts"), why)
    elif kind not in ("tokens", "classes", "similarity"):  # of which heads can be switched off
        reasons["parts"] = f"Parts are of a logit; {trace.model} gives {trace.output.name}"
    try:
        if kind != "tokens":
            raise ValueError(f"{trace.model} gives no logits of tokens")
        with entry.forward_pass():
            trace.readout()
    except ValueError as error:
        reasons["lens"] = " ".join(str(error).split())
    return reasons


def _by_layer(entry: TraceEntry, lens: str, places: Sequence[int]) -> "list[Tensor]":
    """The logits of some tokens by layer; the first is the embedding."""
    from analysis.lens import jacobian_lens, jacobians, logit_lens

    def carry() -> "Tensor":
        with entry.forward_pass():
            return jacobians(trace, progress=report)

    trace = with_hidden(entry)
    held = trace.hidden_states.get(trace.sites[-1].tower)
    if held is None:
        raise ValueError(f"{trace.model} keeps no states of the layers that give its output")
    carried = entry.answers.once(("jacobians",), carry) if lens == "jacobian" else None
    readings = []
    for layer in range(count := len(held.states)):
        report(layer, count)
        if carried is None:
            readings.append(logit_lens(trace, layer, tokens=places))
        else:
            readings.append(jacobian_lens(trace, layer, jacobian=carried[layer], tokens=places))
    return readings


def _tokens(entry: TraceEntry) -> "Tokens":
    """The text of the output."""
    trace = entry.trace
    return (trace.tokens if trace.target_tokens is None else trace.target_tokens)[0]


def _layers(count: int) -> list[str]:
    """What the rows of a lens are called."""
    return ["embedding", *(f"layer {layer}" for layer in range(count - 2)), "output"]


# ---- a figure


@dataclass(frozen=True, eq=False, kw_only=True)
class Lenses(Answer):
    """What layers would predict; the tables are of all tokens, the rest of those on the screen."""

    readings: Lens
    followed: LensRanks


def answer(request: Request) -> Lenses:
    """The likeliest tokens by layer, and the rank of the output."""
    entry, chosen = request.entry, request.selection
    followed = ranks(entry, chosen.output, chosen.lens)
    starts = range(0, len(_tokens(entry)), WINDOW)
    windows = [lens(entry, first, chosen.lens) for first in starts]
    named = {
        "state": followed.layers,
        "token": [label for window in windows for label in window.labels],
    }
    of_state = {"state": followed.layers}
    of = {"token": followed.position, "output": followed.name}
    every, ids = (
        np.concatenate([getattr(each, name).numpy(force=True) for each in windows], 1)
        for name in ("probabilities", "ids")
    )
    final = digits(followed.probabilities[-1])
    return Lenses(
        description=f"{LENSES[chosen.lens]}. “{followed.name}” has probability {final} in the"
        " output.",
        tables=[
            Table("probability", ("state", "token"), every, named),
            Table("likeliest id", ("state", "token"), ids, named),
            Table("rank", ("state",), np.array(followed.ranks), of_state, of),
            Table(
                "probability of the output",
                ("state",),
                np.array(followed.probabilities),
                of_state,
                of,
            ),
        ],
        layers=True,
        doubt=DOUBT,
        readings=windows[followed.position // WINDOW],
        followed=followed,
    )


def figure(answer: Lenses, page: "Page") -> None:
    """Words in cells, shaded by their probability; long texts in parts below each other."""
    from viz.letters import fitted, visible
    from viz.paper import BODY, MARGIN, SMALL, WIDE
    from viz.parts import ink_on, longest

    readings, followed = answer.readings, answer.followed
    last = readings.first + len(readings.labels) - 1
    part = "" if len(readings.labels) == readings.tokens else f", tokens {readings.first} to {last}"
    rank = f"rank of “{followed.name}” at {followed.position}"
    page.heading(f"The likeliest token by layer{part}, and the {rank}")
    columns = [*readings.labels, "rank"]
    words = [
        [*names, f"{rank:,}"] for names, rank in zip(readings.names, followed.ranks, strict=True)
    ]
    shares = np.c_[readings.probabilities.numpy(force=True), np.array(followed.probabilities)]
    scale = Scale("root", 0.0, 1.0, "probability (square-root scale)")
    left = longest(readings.layers, BODY) + 6
    across = max(1, int((WIDE - left) / 38))
    colours = scale.colours(shares)
    wide, high = (WIDE - left) / across, SMALL * 1.7
    for first in range(0, len(columns), across):
        page.y += SMALL * 1.4
        span = slice(first, first + across)
        for place, label in enumerate(columns[span]):
            text = fitted(visible(label), SMALL, wide - 2)
            page.text(MARGIN + left + place * wide + 2, page.y - 2, text, SMALL, INK.muted)
        for row, name in enumerate(readings.layers):
            page.text(MARGIN, page.y + high * 0.7, name, SMALL)
            for place, text in enumerate(words[row][span]):
                colour, x = colours[row, first + place], MARGIN + left + place * wide
                page.box(x, page.y, wide, high, facecolor=colour / 255, linewidth=0.3)
                word = fitted(visible(text), SMALL, wide - 4)
                page.text(x + 2, page.y + high * 0.7, word, SMALL, ink_on(colour))
            page.y += high
        page.y += 6
    page.bar(scale)


def asks(request: Request, entry: TraceEntry) -> list[str]:
    """The lens at all tokens, and the ranks of the output."""
    chosen = request.selection
    asked = {"lens": chosen.lens} if chosen.lens != "logit" else {}
    starts = range(0, len(_tokens(entry)), WINDOW)
    return [
        path_of("refused"),
        path_of("ranks", output=chosen.output, **asked),
        *(path_of("lens", first=first, **asked) for first in starts),
    ]

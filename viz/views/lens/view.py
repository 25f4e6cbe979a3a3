"""What each layer would predict at each token."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viz.api import why
from viz.api.endpoint import TEXT, WHOLE, Endpoint, options, path_of
from viz.colours import INK, Scale
from viz.selection import Form
from viz.views.answer import Answer, Table, digits, given
from viz.views.entries import text_entry
from viz.views.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry
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


@dataclass(frozen=True, eq=False, kw_only=True)
class Lens(Answer):
    """What layers would predict; the tables are of all tokens, the rest of those on the screen.

    Attributes:
        title: of the cells.
        layers_named: a name for each state.
        columns: labels of the tokens, then of the rank.
        shares: probability of each cell.
        texts: by state, the likeliest token at each column, then the rank.
    """

    title: str
    layers_named: Sequence[str]
    columns: Sequence[str]
    shares: np.ndarray
    texts: Sequence[Sequence[str]]


def answer(request: Request) -> Lens:
    """The likeliest tokens by layer, and the rank of the output."""
    entry, chosen = text_entry(request), request.selection
    followed = given(why.ranks(entry, "", chosen.output, chosen.lens))
    place, name = followed["position"], followed["name"]
    windows = [given(why.lens(entry, "", 0, chosen.lens))]
    count, layers = windows[0]["tokens"], windows[0]["layers"]
    for first in range(why.WINDOW, count, why.WINDOW):
        windows.append(given(why.lens(entry, "", first, chosen.lens)))
    rows = windows[place // why.WINDOW]
    labels = [label for window in windows for label in window["labels"]]
    ranks = f"rank of “{name}” at {place}"
    texts = [
        [*names, f"{rank:,}"] for names, rank in zip(rows["names"], followed["ranks"], strict=True)
    ]
    shares = np.array(rows["probabilities"])
    values = np.c_[shares, np.array(followed["probabilities"])]
    last = rows["first"] + len(rows["labels"]) - 1
    part = "" if last + 1 - rows["first"] == count else f", tokens {rows['first']} to {last}"
    named = {"state": layers, "token": labels}
    every = np.concatenate([window["probabilities"] for window in windows], 1)
    ids = np.concatenate([window["ids"] for window in windows], 1)
    of = {"token": place, "output": name}
    tables = [
        Table("probability", ("state", "token"), every, named),
        Table("likeliest id", ("state", "token"), ids, named),
        Table("rank", ("state",), np.array(followed["ranks"]), {"state": layers}, of),
        Table(
            "probability of the output",
            ("state",),
            np.array(followed["probabilities"]),
            {"state": layers},
            of,
        ),
    ]
    final = digits(followed["probabilities"][-1])
    return Lens(
        description=f"{LENSES[chosen.lens]}. “{name}” has probability {final} in the output.",
        tables=tables,
        layers=True,
        doubt=DOUBT,
        title=f"The likeliest token by layer{part}, and the {ranks}",
        layers_named=layers,
        columns=[*rows["labels"], "rank"],
        shares=values,
        texts=texts,
    )


def figure(answer: Lens, page: "Page") -> None:
    """Words in cells, shaded by their probability; long texts in parts below each other."""
    from viz.letters import fitted, visible
    from viz.paper import BODY, MARGIN, SMALL, WIDE
    from viz.parts import ink_on, longest

    scale = Scale("root", 0.0, 1.0, "probability (square-root scale)")
    page.heading(answer.title)
    left = longest(answer.layers_named, BODY) + 6
    across = max(1, int((WIDE - left) / 38))
    colours = scale.colours(answer.shares)
    wide, high = (WIDE - left) / across, SMALL * 1.7
    for first in range(0, len(answer.columns), across):
        page.y += SMALL * 1.4
        span = slice(first, first + across)
        for place, label in enumerate(answer.columns[span]):
            text = fitted(visible(label), SMALL, wide - 2)
            page.text(MARGIN + left + place * wide + 2, page.y - 2, text, SMALL, INK.muted)
        for row, name in enumerate(answer.layers_named):
            page.text(MARGIN, page.y + high * 0.7, name, SMALL)
            for place, text in enumerate(answer.texts[row][span]):
                colour, x = colours[row, first + place], MARGIN + left + place * wide
                page.box(x, page.y, wide, high, facecolor=colour / 255, linewidth=0.3)
                word = fitted(visible(text), SMALL, wide - 4)
                page.text(x + 2, page.y + high * 0.7, word, SMALL, ink_on(colour))
            page.y += high
        page.y += 6
    page.bar(scale)


def asks(request: Request, entry: "TraceEntry") -> list[str]:
    """The lens at all tokens, and the ranks of the output."""
    chosen = request.selection
    asked = {"lens": chosen.lens} if chosen.lens != "logit" else {}
    count = why.lens(entry, "", 0, chosen.lens).get("tokens", 1)
    return [
        path_of("refused"),
        path_of("ranks", output=chosen.output, **asked),
        *(path_of("lens", first=first, **asked) for first in range(0, count, why.WINDOW)),
    ]


ENDPOINTS = (
    Endpoint("refused", TEXT, why.refused),
    Endpoint("lens", TEXT, why.lens, {}, {"first": WHOLE, **options("lens")}),
    Endpoint("ranks", TEXT, why.ranks, {}, options("output", "lens")),
)

"""What each layer would predict at each token."""

from typing import TYPE_CHECKING

import numpy as np

from viz.api import why
from viz.api.endpoint import TEXT, WHOLE, Endpoint, options, path_of
from viz.drawing.panels import Cells, Panel
from viz.drawing.scales import Scale
from viz.export.entries import text_entry
from viz.export.paper import Content, Paper, Table, digits, given
from viz.export.request import Request

if TYPE_CHECKING:
    from viz.api.entries import TraceEntry

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


def _lens(request: Request) -> Content:
    """The tokens that are on the screen are drawn; the numbers are of all."""
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
    panels: list[Panel] = [
        Cells(
            f"The likeliest token by layer{part}, and the {ranks}",
            values,
            texts,
            layers,
            [*rows["labels"], "rank"],
            Scale("root", 0.0, 1.0, "probability (square-root scale)"),
        )
    ]
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
    description = f"{LENSES[chosen.lens]}. “{name}” has probability {final} in the output."
    return Content(description, panels, tables, layers=True, doubt=DOUBT)


def _asks(request: Request, entry: "TraceEntry") -> list[str]:
    chosen = request.selection
    asked = {"lens": chosen.lens} if chosen.lens != "logit" else {}
    count = why.lens(entry, "", 0, chosen.lens).get("tokens", 1)
    return [
        path_of("refused"),
        path_of("ranks", output=chosen.output, **asked),
        *(path_of("lens", first=first, **asked) for first in range(0, count, why.WINDOW)),
    ]


PAPER = Paper(
    shows=_lens,
    asks=_asks,
    endpoints=(
        Endpoint("refused", TEXT, why.refused),
        Endpoint("lens", TEXT, why.lens, {}, {"first": WHOLE, **options("lens")}),
        Endpoint("ranks", TEXT, why.ranks, {}, options("output", "lens")),
    ),
)

"""A trace made from plain arrays, answered for by the app's own API code."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from playwright.sync_api import Locator, Page, expect

import viz.routes  # noqa: F401
from models.attention import Dot, Pattern
from models.text import Tokens
from models.trace import Output, Site, Trace
from tests.browser.views import SIZES, Server, View
from viz.api.endpoint import Download, plain, work_of
from viz.api.entries import TraceEntry

LEAST = 1e-38  # what stands for 0, whose logarithm is no score


DEFAULTS = {
    "layer": 0,
    "attention": "self",
    "head": 0,
    "token": None,
    "direction": "out",
    "scale": "fixed",
    "form": "matrix",
    "block": "all",
    "partner": None,
    **dict.fromkeys(("find", "output", "plot", "rank", "shown"), ""),
}


class Traced:
    """A trace, answered for by the app's own API code."""

    trace = "t1"

    def __init__(self, entry: TraceEntry) -> None:
        self.entry = entry

    def answer(self, route: str, query: dict[str, str]) -> Any:
        """The body of a response."""
        answer = work_of(self.entry, route, [*query.items()])[1]()
        if isinstance(answer, Download):
            return answer.data, answer.kind
        return answer if isinstance(answer, bytes) or type(answer) is tuple else plain(answer)


class Explorer(View):
    """The text view on a page."""

    def __init__(self, page: Page, server: Server, source: Traced, props: dict[str, Any]) -> None:
        super().__init__(page, server, source, props, "/text")
        self.read = page.locator(".hs-matrix .hs-read")
        self.tip = page.locator(".hs-tip")
        self.stage = page.locator(".hs-stage")

    def token(self, side: str, index: int) -> Locator:
        """A token of the columns between which lines run."""
        return self.page.locator(f".hs-lines .hs-column-{side} [data-index='{index}']")

    def walk_to(self, query: int, key: int) -> None:
        """Moves the cross-hair by keyboard: no pixel has to be known."""
        self.page.locator(".hs-overlay").focus()
        for name, times in (("ArrowRight", key), ("ArrowDown", query)):
            for _ in range(times + (name == "ArrowRight")):
                self.page.keyboard.press(name)

    def picture(self) -> str:
        return self.page.locator(".hs-picture").evaluate("canvas => canvas.toDataURL()")

    def is_zoomed(self, is_zoomed: bool = True) -> None:
        overlay = self.page.locator(".hs-overlay")
        expect(overlay).to_have_css("touch-action", "none" if is_zoomed else "manipulation")


def open_text(
    page: Page,
    server: Server,
    source: Traced,
    size: str = "wide",
    mode: Any = "light",
    *,
    predicts: bool = False,
    **start: Any,
) -> Explorer:
    """The text view as a link opens it at its own address."""
    page.set_viewport_size(SIZES[size])
    page.emulate_media(color_scheme=mode)
    props = {"kind": "text", "defaults": DEFAULTS, "start": start, "revision": "r.1"}
    props |= {"page": "text", "path": ["/text"], "link": {}, "predicts": predicts}
    return Explorer(page, server, source, props)


class Source(Traced):
    """Weights "layer head query key", whose rows all have one sum, and the tokens' text."""

    def __init__(
        self,
        weights: np.ndarray,
        labels: Sequence[str],
        *,
        trace: str = "t1",
        trained: bool = True,
        special: Sequence[int] = (),
        predictions: Mapping[str, Any] | None = None,
    ) -> None:
        self.array, self.trace = weights.astype(np.float32), trace
        self.predictions = dict(predictions or {})
        rows = tokens(labels, special)
        sites = tuple(Site(i, "self", *each.shape) for i, each in enumerate(self.array))
        shown = Trace(
            "all-MiniLM-L6-v2",
            trained=trained,
            tokens=(rows,),
            sites=sites,
            output=Output("hidden states", torch.zeros(1, len(labels), 1)),
            patterns=tuple(map(pattern_of, self.array)),
        )
        super().__init__(TraceEntry(shown))

    def answer(self, route: str, query: dict[str, str]) -> Any:
        own = {"numbers": self.numbers, "predictions": lambda: self.predictions}
        return own[route]() if route in own else super().answer(route, query)

    def numbers(self) -> dict[str, Any]:
        """Two numbers of every head, and one that is not defined."""
        square = self.array.shape[2] == self.array.shape[3]
        before = np.diagonal(self.array, -1, 2, 3).mean(-1) if square else self.array[..., 0, 0]
        first = self.array[..., 0].mean(-1)
        shares = {"low": 0.0, "high": 1.0, "formula": "mean A[i, i−1]", "source": "", "about": ""}
        keys = ("previous token", "first token", "induction")
        return {
            "measures": [{"key": key, "title": key.capitalize(), **shares} for key in keys],
            "values": {
                "previous token": before.tolist(),
                "first token": first.tolist(),
                "induction": [[None] * len(row) for row in first],
            },
            "reasons": {"induction": "no token occurs twice"},
            "sentences": [
                [f"{100 * share:.0f} % of its weight goes to the first token." for share in row]
                for row in first
            ],
        }


def pattern_of(weights: np.ndarray) -> Pattern:
    """The attention with these weights "head query key"; a sink takes what rows lack of 1."""
    scores = torch.from_numpy(weights).clamp(min=LEAST).log()[None]
    heads, _, keys = weights.shape
    left = 1 - torch.from_numpy(weights).sum(-1)
    sink = left.mean(1).log() if left.mean() > 1e-3 else None
    values = torch.zeros(1, heads, keys, 1)
    return Pattern(
        scores, torch.eye(keys).expand(1, heads, -1, -1), values, score=Dot(1.0, sink=sink)
    )


def tokens(labels: Sequence[str], special: Sequence[int] = ()) -> Tokens:
    """Labels as a text."""
    count = len(labels)
    own = tuple(i in special for i in range(count))
    none = (None,) * count
    return Tokens(tuple(range(count)), tuple(labels), own, (0,) * count, none)


def random_source(layers: int, heads: int, tokens: int, *, seed: int = 0, **more: Any) -> Source:
    """Rows that sum to 1, peaked as real ones are."""
    labels = more.pop("labels", [f"w{i}" for i in range(tokens)])
    return Source(peaked(layers, heads, tokens, seed=seed), labels, **more)


def peaked(layers: int, heads: int, tokens: int, *, sharp: float = 2, seed: int = 0) -> np.ndarray:
    """Random weights."""
    scores = np.random.default_rng(seed).gumbel(size=(layers, heads, tokens, tokens)) * sharp
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)

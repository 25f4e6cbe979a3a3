"""A head to begin with: the sharpest one that looks at something beside itself and the sinks."""

from dataclasses import dataclass

from torch import Tensor

from analysis.alignment import aligning_heads, spoken, transcript
from analysis.grounding import answer, ranked, rows_of, sites_on_pictures
from analysis.sharpest import sharpness
from analysis.sinks import sinks_of
from analysis.words import words_of
from models.trace import Site, Trace

MOST = 0.5  # of a row's weight that may rest on sinks, the query itself and the token before it
ABOVE = 2.0  # times an even share: a weight below says little
PEAK = 0.2  # of a picture's row: one patch that takes more is a sink of its own


@dataclass(frozen=True)
class Telling:
    """A head, and what it looks at.

    Attributes:
        site: its layer.
        head: its index.
        query: the token that looks.
        key: the token that gets most of its weight.
        weight: that it gets.
        even: the weight that each key of the row would get in a uniform one.
    """

    site: Site
    head: int
    query: int
    key: int
    weight: float
    even: float

    @property
    def stands_out(self) -> bool:
        """Whether the largest weight is well above an even share."""
        return self.weight > ABOVE * self.even


def telling(trace: Trace) -> Telling | None:
    """The head whose row of one query is furthest from uniform weights: ln(n) − H nats.

    The query is the class token of a picture or else its middle patch, the middle moment of what
    was heard of a recording, or the last token of a text that is not special. n is the number of
    keys with a weight, H the entropy of the row. Heads are left out that give more than half of
    this row to sinks (the first token and special ones), to the query itself and to the token
    before it: their place says more about them than what is written there. In a picture those are
    left out as well that give a fifth or more to one patch.

    Of a recording that was written down: a head that follows time, and the row of the longest word.
    Of an answer about pictures: the head that localises its longest word best, and that word's row.

    Returns:
        None where no head is left.
    """
    if trace.sound is not None and trace.target_tokens is not None:
        return _listening(trace)
    if trace.answer is not None and (chosen := _looking(trace)) is not None:
        return chosen
    best: tuple[float, Telling] | None = None
    for site in trace.sites:
        query = _query(trace, site)
        weights = trace.weights(site, rows=[query])[:, 0].float()
        plain = _plain(trace, site, query)
        rest = weights[:, [key for key in range(weights.shape[1]) if key not in plain]].sum(-1)
        gain = sharpness(weights).where(rest > 1 - MOST, -1.0)
        if trace.key_grid(site) is not None:
            gain = gain.where(weights.amax(-1) < PEAK, -1.0)
        head = int(gain.argmax())
        if gain[head] > 0 and (best is None or float(gain[head]) > best[0]):
            best = float(gain[head]), _of(site, head, query, weights[head])
    return None if best is None else best[1]


def _listening(trace: Trace) -> Telling | None:
    """The head that follows time best, of those that the checkpoint names if it names any; None
    for an empty transcript."""
    try:
        tokens, first = transcript(trace)
    except ValueError:
        return None
    named = () if trace.sound is None else trace.sound.aligning
    ordered = [(each.layer, each.head) for each in aligning_heads(trace)]
    layer, head = next((each for each in ordered if each in named), (*named, *ordered)[0])
    site = next(each for each in trace.sites if (each.kind, each.layer) == ("cross", layer))
    _, places = max(spoken(tokens), key=lambda word: len(word[0]))
    query = first + places[0] - 1
    return _of(site, head, query, trace.weights(site, head, rows=[query])[0].float())


def _looking(trace: Trace) -> Telling | None:
    """None for an empty answer, and where no token lies on a picture."""
    try:
        tokens, _ = answer(trace)
        sites_on_pictures(trace)
    except ValueError:
        return None
    words = [group for group in words_of(tokens) if not tokens.special[group[0]]]
    if not words:
        return None
    places = max(words, key=lambda word: sum(len(tokens.labels[place]) for place in word))
    rows = rows_of(trace, [*places])
    best = ranked(trace, rows)[0]
    weights = trace.weights(best.site, best.head, rows=rows[:1])[0].float()
    return _of(best.site, best.head, rows[0], weights)


def _of(site: Site, head: int, query: int, weights: Tensor) -> Telling:
    """A head by the weights of one query, one a key."""
    key = int(weights.argmax())
    even = 1 / max(int((weights > 0).sum()), 1)
    return Telling(site, head, query, key, float(weights[key]), even)


def _query(trace: Trace, site: Site) -> int:
    """The token whose row is looked at."""
    tokens = trace.queries(site)[0]
    grid = trace.query_grid(site)
    if grid is not None:
        return 0 if grid.prefix else (grid.rows // 2) * grid.cols + grid.cols // 2
    rows = [row for row, special in enumerate(tokens.special) if not special]
    if trace.sound is not None and trace.target_tokens is None:
        return rows[trace.sound.frames_heard(len(rows)) // 2]
    return rows[-1] if rows else len(tokens.special) - 1


def _plain(trace: Trace, site: Site, query: int) -> set[int]:
    """The keys whose place alone explains a weight."""
    keys = trace.key_grid(site)
    plain = set(range(keys.prefix)) if keys is not None else set(sinks_of(trace, site))
    return plain if site.kind == "cross" else plain | {query, query - 1}

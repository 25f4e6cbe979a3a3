"""What the explorer is sent: a first message that is enough to start with, and answers.

The browser's questions are a stranger's input: whatever does not fit the trace is left out.
"""

from typing import TYPE_CHECKING, Any

from viz.pack import Map, Row, Thumbs, message

if TYPE_CHECKING:
    from analysis.overview import Head
    from analysis.view import View
    from models.trace import Site, Trace

    Seen = Trace | View

THUMB = 40  # cells along a thumbnail's side
WHOLE = 640  # cells along the side of a whole head's matrix; larger ones are pooled
MAX_PARTS = 64  # maps or rows in one answer
UNTRAINED = "untrained: random weights"


def thumbs(trace: "Seen") -> Thumbs:
    """Every head of every site in small."""
    from analysis.overview import thumbnails

    found = (thumbnails(trace, site, size=THUMB) for site in trace.sites)
    return Thumbs.of([small.numpy(force=True) for small in found])


def first(
    trace: "Seen",
    identity: str,
    small: Thumbs,
    select: dict[str, Any],
    *,
    answer: int | None = None,
    heard: int = 0,
    overruled: int = 0,
    type_size: float = 1.0,
) -> bytes:
    """Texts, sites, thumbnails, and the chosen head's matrix.

    Args:
        trace: what is shown.
        identity: its name for the browser.
        small: its thumbnails.
        select: what is chosen.
        answer: the number of the question this answers.
        heard: the number of the user's last choice that `select` knows of.
        overruled: how often the page has chosen something else than the user had in the view.
        type_size: of all type, as a factor.
    """
    site = trace.sites[select["site"]]
    base = {
        "model": trace.model,
        "note": note_of(trace),
        "complete": _complete(trace),
        **_texts_and_sites(trace),
        "select": select,
        "heard": heard,
        "overruled": overruled,
        "type_size": type_size,
    }
    pooled = max(site.queries, site.keys) > THUMB  # else the thumbnail is the whole matrix
    maps = [_map(trace, select["site"], select["head"])] if pooled else []
    return message(trace=identity, answer=answer, base=base, maps=maps, rows=[], thumbs=small)


def note_of(trace: "Seen") -> str:
    """What has to be known before anything is read off the picture."""
    parts = ["" if trace.trained else UNTRAINED, getattr(trace, "note", "")]
    return "; ".join(part for part in parts if part)


def _complete(trace: "Seen") -> bool:
    """Whether the weights of a row sum to 1: no token is hidden, and no sink takes a share."""
    sinks = (getattr(pattern.score, "sink", None) for pattern in trace.patterns)
    return getattr(trace, "special", "") != "hidden" and all(sink is None for sink in sinks)


def _texts_and_sites(trace: "Seen") -> dict[str, Any]:
    """Each text once, and the sites, which say whose rows and columns are which text's tokens."""
    sides = [(trace.queries(site)[0], trace.keys(site)[0]) for site in trace.sites]
    texts = list({id(tokens): tokens for side in sides for tokens in side}.values())
    return {
        "texts": [
            {
                "labels": list(tokens.labels),
                "special": [place for place, special in enumerate(tokens.special) if special],
            }
            for tokens in texts
        ],
        "sites": [
            {
                "layer": site.layer,
                "kind": site.kind,
                "tower": site.tower,
                "heads": site.heads,
                "kv_heads": pattern.k.shape[1],
                "queries": len(query),
                "keys": len(key),
                "query_text": texts.index(query),
                "key_text": texts.index(key),
                "path": pattern.path,
            }
            for site, pattern, (query, key) in zip(trace.sites, trace.patterns, sides, strict=True)
        ],
    }


def addition(trace: "Seen", identity: str, ask: dict[str, Any]) -> bytes:
    """The maps and exact rows that were asked for."""
    maps = [_asked_map(trace, part) for part in _parts(ask, "maps", 6)]
    rows = [_asked_row(trace, part) for part in _parts(ask, "rows", 4)]
    return message(
        trace=identity,
        answer=number_in(ask, "id"),
        base=None,
        maps=[part for part in maps if part is not None],
        rows=[row for row in rows if row is not None],
        thumbs=None,
    )


def number_in(said: dict[str, Any], name: str) -> int | None:
    """A number the browser gave something, if it did."""
    number = said.get(name)
    return int(number) if isinstance(number, int | float) and 0 <= number < 2**53 else None


def _parts(ask: dict[str, Any], name: str, length: int) -> list[list[Any]]:
    found = ask.get(name)
    if not isinstance(found, list):
        return []
    return [p for p in found[:MAX_PARTS] if isinstance(p, list) and len(p) == length]


def _asked_map(trace: "Seen", part: list[Any]) -> Map | None:
    index, head, r0, r1, c0, c1 = part
    site = _site(trace, index, head)
    if site is None:
        return None
    rows, keys = _range(r0, r1, site.queries), _range(c0, c1, site.keys)
    return _map(trace, index, head, rows, keys) if rows and keys else None


def _asked_row(trace: "Seen", part: list[Any]) -> Row | None:
    from analysis.overview import column_of, rows_of

    index, head, axis, position = part
    site = _site(trace, index, head)
    if site is None or axis not in ("query", "key"):
        return None
    count = site.queries if axis == "query" else site.keys
    if not isinstance(position, int) or not 0 <= position < count:
        return None
    if axis == "query":
        weights = rows_of(trace, site, head, range(position, position + 1))[0]
    else:
        weights = column_of(trace, site, head, position)
    return Row(index, head, axis, position, weights.numpy(force=True))


def _map(
    trace: "Seen",
    index: int,
    head: "Head",
    rows: range | None = None,
    keys: range | None = None,
) -> Map:
    from analysis.overview import pooled

    site = trace.sites[index]
    rows = range(site.queries) if rows is None else rows
    keys = range(site.keys) if keys is None else keys
    weights = pooled(trace, site, head, rows, keys, size=WHOLE).numpy(force=True)
    return Map(index, head, weights, (rows.start, rows.stop), (keys.start, keys.stop))


def _site(trace: "Seen", index: object, head: object) -> "Site | None":
    if not isinstance(index, int) or not 0 <= index < len(trace.sites):
        return None
    site = trace.sites[index]
    known = head in ("mean", "max") or (isinstance(head, int) and 0 <= head < site.heads)
    return site if known else None


def _range(start: object, stop: object, count: int) -> range | None:
    if not isinstance(start, int) or not isinstance(stop, int):
        return None
    inside = range(max(start, 0), min(stop, count))
    return inside or None

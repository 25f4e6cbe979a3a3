"""Which weights and head outputs a change of one head or token can reach, from the masks alone.

A change of a head's output at a token reaches every later layer at that token, and through keys and
values the tokens that attend to it; of keys and values it reaches those tokens in the same layer
already, and of the state that enters a layer all of these. What follows from the masks is a bound:
that a number can change, not by how much.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Literal

import torch
from jaxtyping import Bool
from torch import Tensor

from models.picture_grid import tokens_of
from models.trace import Site, Trace

What = Literal["weights", "q", "k", "v", "head", "hidden"]
WHATS: tuple[What, ...] = ("weights", "q", "k", "v", "head", "hidden")
Stream = tuple[str | None, int]
Tokens = Bool[Tensor, " _"]


def reachable(
    trace: Trace,
    site: Site,
    what: What,
    *,
    head: int | None = None,
    token: int | Sequence[int] | None = None,
) -> tuple[Bool[Tensor, "head query"], ...]:
    """What a change at a site can change, in the first item of the trace.

    Args:
        trace: of the pass.
        site: where something is changed.
        what: "weights", rows of a head's weights; "q", "k" or "v"; "head", values after attention;
            "hidden", the state that enters the layer of the site.
        head: whose; of "k" and "v" one of those that keys and values have. None for all; a hidden
            state has none.
        token: at which tokens: queries of the site, for "k" and "v" its keys; None for all.

    Returns:
        For each site of the trace True at the rows whose weights or values after attention can
        change. Without a mask, or past cross-attention, these are all of them.

    Raises:
        ValueError: for a head or token that the site does not have.
    """
    rows = [
        torch.zeros(each.heads, _queries(trace, each), dtype=torch.bool) for each in trace.sites
    ]
    start = trace.sites.index(site)
    if what == "hidden":
        if head is not None:
            raise ValueError(f"head: a hidden state has none, received {head}")
        reached = {_stream(site): _chosen(rows[start].shape[-1], token)}
        level = [(each.layer, *_stream(each)) for each in trace.sites]
        later = range(level.index(level[start]), len(rows))
    else:
        rows[start] = _at(trace, site, what, head, token)
        reached = {_stream(site): rows[start].any(0)}
        later = range(start + 1, len(rows))
        later = [place for place in later if _group(trace.sites[place]) != _group(site)]
    for _, places in groupby(later, key=lambda place: _group(trace.sites[place])):
        after = {}
        for place in places:
            each = trace.sites[place]
            changed = _rows(trace, each, reached)
            rows[place] = changed.expand(each.heads, -1).clone()
            before = after.get(_stream(each), torch.zeros_like(changed))
            after[_stream(each)] = before | changed if len(before) == len(changed) else changed
        reached |= after
    return tuple(rows)


def _at(
    trace: Trace, site: Site, what: What, head: int | None, token: int | Sequence[int] | None
) -> Bool[Tensor, "head query"]:
    """The rows of the site itself."""
    queries, keys = trace.positions(site)
    pattern = trace.pattern(site)
    of_keys = what in ("k", "v")
    chosen = _chosen(len(keys if of_keys else queries), token)
    heads = pattern.k.shape[1] if of_keys else site.heads
    if head is not None and not 0 <= head < heads:
        raise ValueError(f"head: expected 0 to {heads - 1}, received {head}")
    shared = site.heads // heads
    mine = torch.ones(site.heads, dtype=torch.bool)
    if head is not None:
        mine = torch.arange(site.heads) // shared == head
    changed = _attending(trace, site, chosen) if of_keys else chosen
    return mine[:, None] & changed[None]


def _chosen(count: int, token: int | Sequence[int] | None) -> Tokens:
    """True at the tokens that are changed."""
    wanted = range(count) if token is None else [token] if isinstance(token, int) else [*token]
    if any(not 0 <= each < count for each in wanted):
        raise ValueError(f"token: expected 0 to {count - 1}, received {token}")
    chosen = torch.zeros(count, dtype=torch.bool)
    chosen[[*wanted]] = True
    return chosen


def _rows(trace: Trace, site: Site, reached: dict[Stream, Tokens]) -> Tokens:
    """The rows of a later site that can change."""
    mine = _state(trace, site, reached)
    if site.kind != "cross":
        return mine | _attending(trace, site, mine)
    others = [tokens for stream, tokens in reached.items() if stream != _stream(site)]
    keys = torch.zeros(len(trace.positions(site)[1]), dtype=torch.bool)
    for tokens in others:
        keys |= _fitted(tokens, len(keys))
    return mine | _attending(trace, site, keys)


def _state(trace: Trace, site: Site, reached: dict[Stream, Tokens]) -> Tokens:
    """The tokens of a site's queries whose state can have changed before it."""
    count = _queries(trace, site)
    known = reached.get(_stream(site))
    if known is None:
        return _entered(trace, site, reached)
    tokens = _fitted(known, count)
    if trace.origin is None or not trace.origin.mixing_parts(site.tower):
        return tokens
    causal = any(each.kind == "causal" for each in trace.sites) or site.tower == "decoder"
    return tokens.cummax(0).values if causal else tokens.any().expand(count)


def _entered(trace: Trace, site: Site, reached: dict[Stream, Tokens]) -> Tokens:
    """The tokens of a tower that another one fills: those on pictures, or those of a recording."""
    tokens = torch.zeros(_queries(trace, site), dtype=torch.bool)
    if site.kind == "cross" or not any(each.any() for each in reached.values()):
        return tokens
    if any(stream[0] == site.tower for stream in reached):
        return tokens  # another run of the tower, over another picture
    tokens[tokens_of(trace.query_pictures(site))] = True
    if trace.sound is not None and site.tower != "decoder":
        tokens[:] = True
    return tokens


def _attending(trace: Trace, site: Site, keys: Tokens) -> Tokens:
    """The rows that may attend to any of some keys, in any head."""
    pattern = trace.pattern(site)
    rows, columns = trace.positions(site)
    every = torch.arange(pattern.heads)
    seen = pattern.mask.visible(rows, pattern.keys, every.tolist())
    if seen is None:
        return keys.any().expand(len(rows)).clone()
    return (seen[0].any(0)[:, columns].cpu() & keys).any(-1).expand(len(rows)).clone()


def _fitted(tokens: Tokens, count: int) -> Tokens:
    """The tokens of a stream; where there are other ones now, all of them or none."""
    return tokens if len(tokens) == count else tokens.any().expand(count)


def _queries(trace: Trace, site: Site) -> int:
    return len(trace.queries(site)[0])


def _stream(site: Site) -> Stream:
    return site.tower, site.part


def _group(site: Site) -> tuple[int, str, str | None, int]:
    """Equal for sites that read the same state."""
    return site.layer, site.kind, site.tower, site.part

"""Traces of attention calls that no network made."""

from typing import Any

import torch

from models.attention import Pattern
from models.text import Tokens
from models.trace import Output, Site, Trace


def trace_of(*patterns: Pattern, kind: str = "self", **more: Any) -> Trace:
    """A trace whose layers are these patterns, over tokens that are numbers."""
    sites = tuple(
        Site(layer, kind, each.heads, each.q.shape[2], each.keys)
        for layer, each in enumerate(patterns)
    )
    tokens = more.pop("tokens", Tokens.of_ids(range(patterns[0].keys)))
    output = Output("none", torch.zeros(1))
    return Trace("by hand", True, (tokens,), sites, output, patterns, **more)

"""The methods for the whole model: what each is called, computes and does not prove (methods.toml).

A list without torch: pages, links and the shell read it before anything is computed.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

Fusion = Literal["mean", "max", "min"]
FUSIONS: tuple[Fusion, ...] = ("mean", "max", "min")  # of the heads of a layer


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes:
        name: in links, requests, files and the shell.
        title: for a menu.
        kind: "map" for a number for each query and key, "row" for one that is computed query by
            query, "relevance" for a number for each token of the input, for one output.
        of: what it is about: a "tower" with all its layers, or one "head".
        shows: what its numbers are, in a sentence or two.
        doubt: what they do not prove.
        formula: A is a layer's fused weights, i the query, j the key, l the layer, h the head.
        source: where it comes from.
        low: its smallest possible number; None if that depends on the text.
        high: its largest; likewise.
        most: tokens up to which it is computed in a view; None for any number.
        joined: how numbers of tokens become numbers of words.
        hidden: whether it reads the hidden states of the pass.
        function: "module.name" in this package of a map over the tokens of a tower, called as
            `(trace, tower=, progress=)`; "" where the view has to be known.
    """

    name: str
    title: str
    shows: str
    doubt: str
    formula: str
    source: str
    joined: str
    kind: Literal["map", "row", "relevance"] = "map"
    of: Literal["tower", "head"] = "tower"
    low: float | None = None
    high: float | None = None
    most: int | None = None
    hidden: bool = False
    function: str = ""


TEXT = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
METHODS = tuple(Method(name, **stated) for name, stated in tomllib.loads(TEXT).items())
NAMES = tuple(method.name for method in METHODS)
BY_NAME = {method.name: method for method in METHODS}


def function_of(method: Method) -> Callable[..., Any]:
    """The function that computes a map."""
    module, name = method.function.split(".")
    return getattr(import_module(f".{module}", __package__), name)


def names_of(*kinds: str) -> tuple[str, ...]:
    """The names of the methods of some kinds."""
    return tuple(method.name for method in METHODS if method.kind in kinds)

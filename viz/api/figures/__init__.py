"""The numbers of the course's figures, computed by `models` for the inputs a reader chooses.

A figure is a module here with a function `numbers(**inputs)`, a line in `FIGURES`, and a browser
module of the same name in `viz/components/headscope_views/assets/figures/`, which draws it.
"""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from viz.api.registry import UnknownError
from viz.api.requests import Parse, count, one_of, parse_query, reals, sentence, within, word

__all__ = ["FIGURES", "FigureNumbers", "numbers"]

MAX_INPUT = 700  # characters of an input: of a list of numbers


@dataclass(frozen=True)
class FigureNumbers:
    """The numbers of one figure.

    Attributes:
        inputs: the parser of each input; all are required.
        module: of its function `numbers`, in this package.
    """

    inputs: Mapping[str, Parse]
    module: str

    @property
    def answer(self) -> Callable[..., dict[str, Any]]:
        """Computes the numbers from the parsed inputs: plain lists, numbers and texts."""
        return importlib.import_module(f"viz.api.figures.{self.module}").numbers


FIGURES: dict[str, FigureNumbers] = {
    "block": FigureNumbers(
        {
            "word": word,
            "place": count(0, 11),
            "off": reals(4),
            "norm": one_of("pre", "post"),
            "x": reals(8, 10),
            "gain": within(-3, 3),
            "shift": within(-3, 3),
            "order": one_of("pre", "post"),
        },
        "block",
    ),
    "vision": FigureNumbers(
        {
            "picture": one_of("a-star", "a-heart", "a-moon"),
            "shuffle": one_of("none", "tokens", "patches"),
            "layer": count(0, 3),
            "head": count(0, 3),
            "position": count(0, 63),
        },
        "vision",
    ),
    "both": FigureNumbers(
        {
            "date": word,
            "written": count(0, 10),
            "head": count(0, 3),
            "at": count(0, 23),
            "length": count(2, 2048),
            "width": count(16, 1024),
            "off": reals(3),
        },
        "both",
    ),
    "decoder": FigureNumbers(
        {
            "text": word,
            "written": count(0, 9),
            "window": count(1, 11),
            "ahead": count(0, 10),
            "network": one_of("trained", "copying"),
            "head": count(0, 3),
        },
        "decoder",
    ),
    "dictionary": FigureNumbers({"query": word, "temperature": within(0.05, 5)}, "dictionary"),
    "by_hand": FigureNumbers(
        {"film": reals(3, 10), "viewer": reals(3, 10), "x": reals(6, 10), "row": count(0, 1)},
        "by_hand",
    ),
    "heads": FigureNumbers(
        {
            "heads": one_of("1", "2", "3", "4", "6", "12"),
            "token": count(0, 3),
            "head": count(0, 11),
            "trained": one_of("no", "yes"),
            "sentence": sentence,
            "layer": count(0, 5),
        },
        "heads",
    ),
    "heads_do": FigureNumbers(
        {
            "text": word,
            "query": count(0, 12),
            "head": count(0, 3),
            "later": count(2, 3),
            "sink": count(0, 3),
            "ablated": one_of("none", "0", "1", "2", "3"),
            "sentence": sentence,
            "reader": count(0, 3),
            "hidden": count(0, 7),
        },
        "heads_do",
    ),
    "scale": FigureNumbers(
        {
            "width": count(1, 512),
            "temperature": within(0.1, 10),
            "size": within(0.5, 200),
            "seed": count(0, 99),
            "q": reals(2, 10),
            "key_width": count(1, 3),
            "scoring": one_of("dot", "bilinear", "additive"),
        },
        "scale",
    ),
    "sampling": FigureNumbers(
        {
            "start": sentence,
            "temperature": within(0.1, 5),
            "k": count(0, 10),
            "p": within(0.05, 1),
            "written": count(0, 11),
            "length": count(2, 4096),
        },
        "sampling",
    ),
    "position": FigureNumbers(
        {
            "position": count(0, 19),
            "other": count(0, 19),
            "added": one_of("no", "yes"),
            "mask": one_of("none", "causal"),
            "far": count(0, 5000),
            "first": count(0, 17),
            "embeddings": reals(12, 10),
        },
        "position",
    ),
    "query_key_value": FigureNumbers(
        {
            "word": count(0, 2),
            "x": reals(9, 10),
            "wq": reals(6, 10),
            "wk": reals(6, 10),
            "wv": reals(6, 10),
            "dq": reals(2, 500),
            "dk": reals(6, 500),
        },
        "query_key_value",
    ),
    "sequences": FigureNumbers(
        {
            "tokens": count(2, 20),
            "kernel": one_of("3", "5", "7"),
            "width": count(4, 64),
            "gain": within(0.5, 1.2),
            "activation": one_of("tanh", "none"),
        },
        "sequences",
    ),
    "tokens": FigureNumbers({"text": word, "token": count(0, 11)}, "tokens"),
    "head_layer": FigureNumbers(
        {
            "h": reals(3),
            "target": count(0, 3),
            "rate": within(0, 4),
            "temperature": within(0.2, 5),
        },
        "head_layer",
    ),
}


def numbers(name: str, query: list[tuple[str, str]]) -> Callable[[], dict[str, Any]]:
    """A function that computes the numbers of a figure, after validation of its inputs.

    Raises:
        UnknownError: there is no such figure.
        QuestionError: for invalid inputs.
    """
    figure = FIGURES.get(name)
    if figure is None:
        raise UnknownError(name)
    inputs = parse_query(query, figure.inputs, {}, MAX_INPUT)
    return lambda: figure.answer(**inputs)

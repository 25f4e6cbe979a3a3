"""The methods for the whole model: what each is called, computes and does not prove.

A list without torch: pages, links and the shell read it before anything is computed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
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
        low: its smallest possible number.
        high: its largest; None if that depends on the text.
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
    low: float | None = 0.0
    high: float | None = 1.0
    most: int | None = None
    hidden: bool = False
    function: str = ""


AVERAGES = (
    "Attention weights are not contributions: values, norms and feed-forward networks do not enter."
)
REMOVAL = "It is not proof that the token causes the output: removing tokens tests that."
PATENT = (
    "The authors of LXT, its reference code, call layer-wise relevance propagation a patented"
    " technology, free for personal and scientific use."
)
JOINED_FIRST = "each head’s weights joined to words first"
AS_WEIGHTS = "summed over a word’s keys, averaged over its queries"
AS_VECTORS = "vectors added up over a word’s keys, their lengths averaged over its queries"
SUMMED = "a word’s number is the sum of its tokens’"

METHODS = (
    Method(
        "mean",
        "Mean of all heads",
        shows="The mean weight over every head of every layer.",
        doubt=AVERAGES,
        formula="mean over l and h of A[l, h, i, j]",
        source="plain average",
        joined=JOINED_FIRST,
    ),
    Method(
        "max",
        "Maximum of all heads",
        shows="The largest weight that any head of any layer gives.",
        doubt=f"One head out of many is enough to make a cell strong. {AVERAGES}",
        formula="max over l and h of A[l, h, i, j]",
        source="plain maximum",
        joined=JOINED_FIRST,
    ),
    Method(
        "rollout",
        "Rollout",
        shows="How much of each input token is in each token of the last layer: the layers’"
        " weights, the residual connection added to each, multiplied.",
        doubt=f"A product of averages. {AVERAGES}",
        formula="Ã_L … Ã_1, Ã = fused(A) + I, rows divided by their sums",
        source="Abnar and Zuidema 2020, equation 1",
        function="rollout.rollout",
        joined=AS_WEIGHTS,
    ),
    Method(
        "flow",
        "Attention flow",
        kind="row",
        shows="The largest stream that the weights of all layers, as pipes, can carry from the"
        " chosen token to each input token.",
        doubt="Each number is a problem of its own: they do not add up. In deep models most equal"
        f" what the first layer lets through, whatever the layers above do. {AVERAGES}",
        formula="maximum flow from i in the last layer to j, capacities Ã as for rollout",
        source="Abnar and Zuidema 2020, section 3",
        joined="from a word’s last token, the largest to any of its tokens",
    ),
    Method(
        "alti",
        "ALTI",
        shows="How much nearer each token’s vector, residual connection and norm included, brings a"
        " token to its layer’s output; the layers multiplied.",
        doubt="Feed-forward networks do not enter, and nearness of vectors is not use by later"
        " layers.",
        formula="C_L … C_1, C[i, j] = max(0, ‖y[i]‖₁ − ‖y[i] − y[i, j]‖₁) by the sum of its row",
        source="Ferrando et al. 2022, equations 9 to 11",
        function="norms.alti",
        most=1024,
        joined=AS_WEIGHTS,
        hidden=True,
    ),
    Method(
        "norms",
        "Norms of this head",
        of="head",
        shows="The length of the vector that each key adds: weight times value, through the output"
        " projection.",
        doubt="Vectors of several heads can cancel, and a long one need not be used by later"
        " layers.",
        formula="‖A[i, j] v[j] W_O‖",
        source="Kobayashi et al. 2020, equation 3",
        high=None,
        joined=AS_VECTORS,
    ),
    Method(
        "gradient",
        "Attention × gradient",
        kind="relevance",
        shows="Weights times their gradients, summed over layers, heads and queries, for one"
        " output.",
        doubt=f"A gradient tells what a small change would do, not what the token did. {REMOVAL}",
        formula="Σ over l, h and i of A[l, h, i, j] ∂y/∂A[l, h, i, j]",
        source="attention times gradient, summed",
        low=None,
        high=None,
        joined=SUMMED,
    ),
    Method(
        "chefer",
        "Relevance (Chefer)",
        kind="relevance",
        shows="Positive products of weights and gradients, carried through the layers to the input,"
        " for one output.",
        doubt=f"What speaks against the output is left out by rule. {REMOVAL}",
        formula="R ← R + E R, E = mean over h of max(0, A ∂y/∂A), layer by layer",
        source="Chefer et al. 2021, equations 5 to 11",
        high=None,
        joined=SUMMED,
    ),
    Method(
        "attnlrp",
        "Relevance (AttnLRP)",
        kind="relevance",
        shows="The output’s number handed back through every layer, feed-forward networks included,"
        " until each input token has its part.",
        doubt=f"Parts are assigned by rules, not measured. {REMOVAL} {PATENT}",
        formula="Σ over features of x ∂y/∂x, by the rules of AttnLRP",
        source="Achtibat et al. 2024, section 3",
        low=None,
        high=None,
        joined=SUMMED,
    ),
)
NAMES = tuple(method.name for method in METHODS)
BY_NAME = {method.name: method for method in METHODS}


def function_of(method: Method) -> Callable[..., Any]:
    """The function that computes a map."""
    module, name = method.function.split(".")
    return getattr(import_module(f".{module}", __package__), name)


def names_of(*kinds: str) -> tuple[str, ...]:
    """The names of the methods of some kinds."""
    return tuple(method.name for method in METHODS if method.kind in kinds)

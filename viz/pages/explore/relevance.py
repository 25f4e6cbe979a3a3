"""Relevance of the patches for a class, and whether taking them away bears it out.

The methods need one stack of layers over one grid of patches. Of networks without it, one sentence
says why they do not apply.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import streamlit as st

from models.request import TraceRequest
from viz import vision
from viz.api import tracing
from viz.figures import curves
from viz.pages import shared
from viz.pages.explore import compute
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import cards, charts, controls

if TYPE_CHECKING:
    from PIL.Image import Image
    from torch import Tensor

    from analysis.faithfulness import Faithfulness, Removal
    from analysis.perturbation import Kind, Perturbation
    from analysis.stack import Fusion
    from models.run import Model, Trace

Method = Literal["none", "rollout", "flow", "norms", "gradient", "chefer", "attnlrp"]
TITLES: dict[Method, str] = {
    "none": "None",
    "rollout": "Rollout",
    "flow": "Flow",
    "norms": "Value norms",
    "gradient": "Gradient × attention",
    "chefer": "Chefer",
    "attnlrp": "AttnLRP",
}
PROOFS = {
    "no": "None",
    "yes": "Greyed out",
    "drop": "Left out",
    "deletion": "Deletion",
    "insertion": "Insertion",
    "road": "ROAD",
}
PARAMS = (
    link.choice("relevance", "none", TITLES),
    link.text("class", ""),
    link.choice("proof", "no", PROOFS),
    link.choice("fused", "mean", ("mean", "max", "min")),
    link.number("discarded", 0, 0, 95, 5),
)
FUSED = {"mean": "Mean", "max": "Max", "min": "Min"}
READERS = {"class": "class", "[CLS]": "class", "[DIST]": "distillation"}  # by labels of tokens
WITHOUT_CLASS: tuple[Method, ...] = ("rollout", "flow", "norms")
PIXELS = "pixel_values"
SMALL = 0.1  # probabilities below it get an axis of their own
MOST_FLOW = 257  # tokens: a flow for each of them takes seconds already
SIGNED = ("gradient", "attnlrp")
SAYS: dict[Method, str] = {
    "rollout": "Attention followed through all layers, with half of each layer for the residual"
    " connection: how much of each patch reaches {reader}. The same for every class.",
    "flow": "The largest stream that the weights of all layers can carry from each patch to"
    " {reader}. In deep networks mostly the first layer decides it. The same for every class.",
    "norms": "The length of the vector that the last layer adds to {reader} from each patch: the"
    " sum over all heads of weight times projected value. The same for every class.",
    "gradient": "Attention weights times their gradients of the class, over all layers and heads.",
    "chefer": "Positive attention times gradient, accumulated layer by layer (Chefer et al. 2021).",
    "attnlrp": "Layer-wise relevance propagation through every layer (Achtibat et al. 2024). Its"
    " authors call it a patented technology, free for personal and scientific use.",
}
PROOF = (
    "Left: the class’s probability falls by this much when the most relevant patches are {gone};"
    " a faithful map falls sooner than random orders. Right: with the most relevant patches"
    " alone; a faithful map falls less. Grey bands: {orders} random orders."
)
DOUBT = (
    "Pictures with {} patches are unlike those the network was trained on: a change does not"
    " prove a cause either."
)
PERTURBED: dict[str, tuple[str, str, str]] = {  # what happens, the x axis, what patches become
    "deletion": (
        "Patches are greyed out one after another. If the map is faithful, the probability falls"
        " sooner with the most relevant ones first than in random orders.",
        "patches greyed out",
        "grey",
    ),
    "insertion": (
        "Patches are put back into the blurred picture. If the map is faithful, the probability"
        " rises sooner with the most relevant ones first than in random orders.",
        "patches put back",
        "blurred",
    ),
    "road": (
        "Patches are replaced by what their surroundings suggest, so that no grey square tells the"
        " network where they were (Rong et al. 2022). If the map is faithful, the probability falls"
        " sooner with the most relevant ones first than with the least relevant ones first.",
        "patches replaced",
        "filled-in",
    ),
}
WITHOUT = "methods that explain a class, and proofs by its probability, do not apply."
SEVERAL = " Each probability is the sigmoid of its logit: a picture may belong to several classes."
REMOVALS: dict[str, tuple["Removal", str, str]] = {  # how, what happens to patches, and the doubt
    "yes": ("grey", "greyed out", DOUBT.format("grey")),
    "drop": (
        "drop",
        "left out of the sequence (the others keep their positions, and no grey square tells the"
        " network anything)",
        "Sequences with gaps are unlike those the network was trained on: a change does not prove a"
        " cause either.",
    ),
}


@dataclass(frozen=True, eq=False)
class Subject:
    """A network, and a picture that it has read.

    Attributes:
        key: of both, for caches.
        model: the network.
        input: the picture as `trace` takes it.
        image: the preprocessed picture.
        trace: of the pass.
        questions: the classes of each question that the network answers, in the order of its
            logits; names may be missing at the end.
    """

    key: Any
    model: "Model"
    input: Any
    image: "Image"
    trace: "Trace"
    questions: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the classes of all questions."""
        return tuple(name for names in self.questions for name in names)

    @property
    def has_classes(self) -> bool:
        """Whether the network gives one logit per class."""
        return self.trace.output.name == "logits" and self.trace.output.values.ndim == 2

    @cached_property
    def titles(self) -> tuple[str, ...]:
        """A name for every class, no two alike."""
        many = Counter(self.names)
        named = [f"{each} ({id})" if many[each] > 1 else each for id, each in enumerate(self.names)]
        count = self.trace.output.values.shape[-1] if self.has_classes else 0
        return (*named, *(f"class {id}" for id in range(len(named), count)))

    def question(self, chosen: int) -> range | None:
        """The classes of the question that a class answers; None if there is only one question."""
        if len(self.questions) < 2:
            return None
        ends = accumulate(map(len, self.questions), initial=0)
        spans = (range(first, end) for first, end in pairwise(ends) if first <= chosen < end)
        return next(spans, None)

    def likeliest(self) -> int:
        """The likeliest class, of the first question."""
        logits, question = self.trace.output.values[0], self.question(0)
        return int((logits if question is None else logits[: question.stop]).argmax())


@dataclass(frozen=True)
class Asked:
    """A method with its settings.

    Attributes:
        method: of the list.
        fused: how the heads of a layer are fused, for rollout and flow.
        discard: share of a layer's smallest weights that rollout leaves out, in percent.
    """

    method: Method
    fused: "Fusion" = "mean"
    discard: int = 0


@dataclass(frozen=True, eq=False)
class Explanation:
    """The relevance of every patch.

    Attributes:
        tokens: of every token, prefix first.
        chosen: id of the class; None for a network without classes.
        reader: the token or tokens that the patches are followed to, for a method without a class.
        unassigned: part of the logit that no token gets; None where the method leaves none.
        value: of the logit; None for a method without a class.
    """

    tokens: np.ndarray
    chosen: int | None
    reader: str = ""
    unassigned: float | None = None
    value: float | None = None


def show(request: TraceRequest, trace: "Trace") -> None:
    """The section, or why the methods do not apply; nothing for an input without a picture.

    The methods need one stack of layers over one grid of patches.

    Args:
        request: of the trace.
        trace: of the pass.
    """
    model, given, _ = tracing.arguments(request)
    image = tracing.image_of(request)
    if image is None:
        return
    try:
        _check_layers(trace)
        pixels = _pixels(given)
        _check_patches(trace, pixels)
        _check_output(trace)
    except ValueError as error:
        st.caption(shared.plain(f"Relevance does not apply to {trace.model}: {error}."))
        return
    names = _questions(request.model.catalogue) or (_classes(model, trace),)
    _section(PAGE, Subject(request, model, pixels, image, trace, names))


def _questions(model: str) -> tuple[tuple[str, ...], ...]:
    """The classes of each question that a trained network of the catalogue answers."""
    card = cards.card(model)
    return () if card is None else tuple(tuple(each.classes) for each in card.questions)


def _section(page: str, subject: Subject) -> None:
    """The choice of a method, the relevance over the picture, and the curves of its proof."""
    with st.container(
        key=f"{page}_relevance", horizontal=True, vertical_alignment="bottom", gap="medium"
    ):
        method = _method(page, subject)
        chosen = asked = None
        proof: Any = "no"
        if method != "none":
            chosen, asked = _class(page, subject), _asked(page, method)
            proof = _proof(page) if subject.has_classes else "no"
    if not subject.has_classes:
        st.caption(shared.plain(f"{_no_classes(subject)}: {WITHOUT}"))
    if asked is None:
        return
    try:
        explanation = _explained(subject.key, asked, chosen, subject)
        _draw(page, subject, method, explanation)
        if proof in REMOVALS:
            _prove(page, subject, asked, explanation, proof)
        elif proof != "no":
            _perturb(page, subject, asked, explanation, proof)
    except ValueError as error:
        shared.error_line(error)


def _classes(model: "Model", trace: "Trace") -> tuple[str, ...]:
    """A name for every class; () for a network without classes."""
    return compute.class_names(model, trace.output.values.shape[-1])


def _pixels(given: Any) -> "Tensor":
    """The picture as the model reads it.

    Raises:
        ValueError: if the model reads something beside it.
    """
    if not isinstance(given, Mapping):
        return given
    more = sorted(given.keys() - {PIXELS})
    if more:
        raise ValueError(f"it reads {', '.join(more)} beside the pixels")
    return given[PIXELS]


def _check_layers(trace: "Trace") -> None:
    """Raises ValueError unless the layers are one stack over the same tokens."""
    towers = sorted({str(site.tower) for site in trace.sites})
    if len(towers) > 1:
        raise ValueError(f"it has several stacks of layers ({', '.join(towers)})")
    compute.self_attention(trace)


def _check_patches(trace: "Trace", pixels: "Tensor") -> None:
    """Raises ValueError unless the tokens are one grid of patches, after class and registers."""
    rows, cols = trace.grid or (0, 0)
    if pixels.ndim != 4 or not rows * cols or trace.prefix + rows * cols != len(trace.labels):
        raise ValueError("its tokens are not one grid of patches of the whole picture")
    if pixels.shape[-2] % rows or pixels.shape[-1] % cols:
        raise ValueError("its patches do not cover the whole picture")


def _check_output(trace: "Trace") -> None:
    """Raises ValueError for outputs that are neither classes nor hidden states."""
    name, values = trace.output.name, trace.output.values
    if name in compute.EMBEDDINGS:
        return
    if name != "logits" or values.ndim != 2:
        raise ValueError(f"it gives {name} for many places, not classes of the whole picture")
    if values.shape[-1] < 2:
        raise ValueError("it gives one number, and no classes")


def _method(page: str, subject: Subject) -> Method:
    """The chosen method, of those that apply."""
    titles = {
        method: title
        for method, title in TITLES.items()
        if subject.has_classes or method in ("none", *WITHOUT_CLASS)
    }
    if session.get(page, "relevance") not in titles:  # of a link, or another network
        session.edit(page, {"relevance": "none"})
    help = "Which patches count for the network's answer, over all layers"
    return controls.choice(page, "relevance", "Relevance", titles, help)


def _proof(page: str) -> Any:
    help = (
        "Takes patches away in the order of the map, or puts them back, and measures what becomes"
        " of the answer; a large network takes a while"
    )
    return controls.choice(page, "proof", "Proof", PROOFS, help)


def _asked(page: str, method: Method) -> Asked:
    """The method with its settings, and their controls."""
    if method not in ("rollout", "flow"):
        return Asked(method)
    help = "How the heads of a layer are fused"
    fused = controls.choice(page, "fused", "Heads", FUSED, help)
    if method == "flow":
        return Asked(method, fused)
    help = "Share of each layer's smallest weights that is left out; rows still sum to 1"
    discard = controls.slider(page, "discarded", "Discard %", (0, 95), help, step=5)
    return Asked(method, fused, discard)


def _class(page: str, subject: Subject) -> int | None:
    """The chosen class, or the likeliest; None for a network without classes."""
    if not subject.has_classes:
        return None
    chosen, names = session.get(page, "class"), subject.titles
    if chosen and chosen not in names:  # of another network, or a number of an older link
        known = chosen.isdecimal() and int(chosen) < len(names)
        session.edit(page, {"class": names[int(chosen)] if known else ""})
    titles = {"": "The likeliest", **{name: name for name in names}}
    help = "The class that the relevance explains"
    chosen = controls.select(page, "class", "Class", titles, help, width=170)
    return names.index(chosen) if chosen else subject.likeliest()


def _draw(page: str, subject: Subject, method: Method, explanation: Explanation) -> None:
    model, first = subject.model, subject.trace.prefix
    rows, cols = subject.trace.grid or (1, 1)
    patches = explanation.tokens[first : first + rows * cols].reshape(rows, cols)
    of = ""
    if method not in WITHOUT_CLASS and explanation.chosen is not None:
        of = f" of {subject.titles[explanation.chosen]}"
    note = "" if model.trained else ", untrained (random weights)"
    title = f"{model.name}{note}: {TITLES[method]}{of}"
    says = SAYS[method].format(reader=explanation.reader)
    st.markdown(says)
    figure = vision.overlay(
        patches, subject.image, title=title, bar="relevance", signed=method in SIGNED
    )
    with charts.saved(page, "relevance", title, (says,)):
        charts.chart(page, figure, "relevance", f"{title}. {says}")
    if explanation.unassigned is not None and explanation.value is not None:
        st.caption(
            f"The logit is {explanation.value:.4f}; {explanation.unassigned:.4f} of it is assigned"
            " to no token (biases and softmax keep it)."
        )


def _prove(page: str, subject: Subject, asked: Asked, explanation: Explanation, proof: str) -> None:
    removal, gone, doubt = REMOVALS[proof]
    with st.spinner("Removing patches …"):
        curve = _faithful(
            subject.key,
            asked,
            _class_of(explanation, subject),
            removal,
            subject,
            explanation.tokens,
        )
    whole = len(curve.random_comprehensiveness)
    st.markdown(PROOF.format(orders=whole, gone=gone))
    left, right = st.columns(2)
    curve_rows = (
        (left, "removed", curve.comprehensiveness, curve.random_comprehensiveness, "removed"),
        (right, "kept", curve.sufficiency, curve.random_sufficiency, "kept"),
    )
    for place, name, values, random, verb in curve_rows:
        lines = {TITLES[asked.method]: values.numpy(), "random orders": random.mean(0).numpy()}
        band = random.amin(0).numpy(), random.amax(0).numpy()
        figure = curves(
            curve.counts.numpy(),
            lines,
            title=f"The most relevant patches {verb}",
            x=f"patches {verb}",
            y="drop of the probability",
            band=band,
            steps=True,
            height=320,
        )
        with place:
            charts.chart(page, figure, f"proof_{name}", f"Drop with patches {verb}.")
    means = [float(each.mean()) for each in (curve.comprehensiveness, curve.sufficiency)]
    others = [
        float(each.mean()) for each in (curve.random_comprehensiveness, curve.random_sufficiency)
    ]
    st.caption(
        f"Mean drop, removed: {means[0]:.4f} (random {others[0]:.4f}; more is faithful); kept:"
        f" {means[1]:.4f} (random {others[1]:.4f}; less is faithful). {doubt}{_several(subject)}"
    )


def _perturb(
    page: str, subject: Subject, asked: Asked, explanation: Explanation, kind: "Kind"
) -> None:
    with st.spinner("Changing patches …"):
        curve = _perturbed(
            subject.key, asked, _class_of(explanation, subject), kind, subject, explanation.tokens
        )
    says, x, become = PERTURBED[kind]
    st.markdown(says)
    lines = {
        f"{TITLES[asked.method]}, most relevant first": curve.curve.numpy(),
        "least relevant first": curve.reverse.numpy(),
        "random orders": curve.random.mean(0).numpy(),
    }
    figure = curves(
        curve.counts.numpy(),
        lines,
        title=f"{PROOFS[kind]}: probability of the class",
        x=x,
        y="probability",
        band=(curve.random.amin(0).numpy(), curve.random.amax(0).numpy()),
        steps=True,
        span=(0.0, _top(lines.values())),
        height=360,
    )
    charts.chart(page, figure, f"proof_{kind}", f"{PROOFS[kind]}. {says}")
    st.caption(
        f"Score, half the difference of the areas under the first two curves: {curve.score:+.4f}"
        " (above 0 is faithful, 0 says nothing). Grey band:"
        f" {len(curve.random)} random orders. {DOUBT.format(become)}{_several(subject)}"
    )


def _class_of(explanation: Explanation, subject: Subject) -> int:
    """The class whose probability a proof measures."""
    if explanation.chosen is None:
        raise ValueError(f"{_no_classes(subject)}: a proof measures the probability of a class")
    return explanation.chosen


def _several(subject: Subject) -> str:
    return SEVERAL if subject.model.multi_label else ""


def _no_classes(subject: Subject) -> str:
    return f"{subject.model.name} gives {subject.trace.output.name}, and no classes"


def _top(lines: Iterable[np.ndarray]) -> float:
    """The end of an axis of probabilities: 1, unless all of them would look like 0 on it."""
    largest = max(float(line.max()) for line in lines)
    return 1.05 if largest > SMALL or largest <= 0 else 1.1 * largest


@st.cache_resource(max_entries=16, show_spinner="Computing the relevance …")
def _explained(key: Any, asked: Asked, chosen: int | None, _subject: Subject) -> Explanation:
    model, picture = _subject.model, _subject.input
    if asked.method in ("gradient", "chefer", "attnlrp"):
        if chosen is None:
            raise ValueError(f"{_no_classes(_subject)}: {TITLES[asked.method]} explains one")
        with shared.forward_pass(model):
            result = compute.explain(model, picture, target=chosen, method=asked.method)
        tokens = result.tokens.float().numpy(force=True)
        return Explanation(tokens, chosen, unassigned=result.unassigned, value=result.value)
    with shared.forward_pass(model):
        read = _read(_subject, chosen)
        tokens = _followed(asked, _subject.trace, read).float().numpy(force=True)
    return Explanation(tokens, chosen, _reader(_subject.trace, read))


def _read(subject: Subject, chosen: int | None) -> "Tensor":
    """The share of each token of the last layer in what the answer is read from.

    Of a network without classes: the class token, or all patches where there is none.
    """
    if chosen is not None:
        t = compute.trace(
            subject.model, subject.input, hidden=True, gradient=compute.Target(chosen).score
        )
        return compute.reader(t, t.sites[-1])
    shares = compute.zeros(len(subject.trace.labels))
    rows, cols = subject.trace.grid or (1, 1)
    first = subject.trace.prefix
    alone = READERS.get(subject.trace.labels[0]) == "class"
    shares[0 if alone else slice(first, first + rows * cols)] = 1 if alone else 1 / (rows * cols)
    return shares


def _reader(trace: "Trace", shares: "Tensor") -> str:
    """What an answer is read from, in words."""
    read = shares.nonzero().flatten().tolist()
    names = [READERS[trace.labels[token]] for token in read if trace.labels[token] in READERS]
    tokens = "" if not names else f"the {' and '.join(names)} token{'s' * (len(names) > 1)}"
    patches = [token for token in read if trace.labels[token] not in READERS]
    if not patches:
        return tokens if len(names) == 1 else f"{tokens} (their mean)"
    if len(names) == 1 and math.isclose(float(shares[patches].sum()), 0.5, rel_tol=1e-4):
        return f"{tokens} and the mean of the patches (half and half)"
    rows, cols = trace.grid or (1, 1)
    if patches == [*range(trace.prefix, trace.prefix + rows * cols)] and not names:
        return "the mean of the patches"
    return "the tokens that the answer is read from (their mean)"


def _followed(asked: Asked, t: "Trace", shares: "Tensor") -> "Tensor":
    """The relevance of every token for what the answer is read from, whatever the answer is."""
    if asked.method == "norms":
        return compute.norms_to(t, t.sites[-1], shares)
    if asked.method == "rollout":
        rolled = compute.rollout(t, fusion=asked.fused, discard=asked.discard / 100)
        return shares.to(rolled) @ rolled
    tokens, rows = len(t.labels), shares.nonzero().flatten().tolist()
    if len(rows) > 1:
        raise ValueError(
            f"flow: expected one token that the answer is read from, this network has {len(rows)}"
        )
    if tokens > MOST_FLOW:
        raise ValueError(f"flow: expected at most {MOST_FLOW} tokens, this network has {tokens:,}")
    return compute.flow(t, rows[0], fusion=asked.fused)


@st.cache_resource(max_entries=16, show_spinner=False)
def _faithful(
    key: Any,
    asked: Asked,
    chosen: int,
    removal: "Removal",
    _subject: Subject,
    _tokens: np.ndarray,
) -> "Faithfulness":
    model, among = _subject.model, _subject.question(chosen)
    relevance = compute.tensor(_tokens)
    with shared.forward_pass(model):
        return compute.faithfulness(
            model, _subject.input, relevance, target=chosen, among=among, removal=removal
        )


@st.cache_resource(max_entries=16, show_spinner=False)
def _perturbed(
    key: Any,
    asked: Asked,
    chosen: int,
    kind: "Kind",
    _subject: Subject,
    _tokens: np.ndarray,
) -> "Perturbation":
    model, among = _subject.model, _subject.question(chosen)
    relevance = compute.tensor(_tokens)
    with shared.forward_pass(model):
        return compute.perturbation(
            model, _subject.input, relevance, kind, target=chosen, among=among
        )

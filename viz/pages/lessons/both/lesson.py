"""Encoder and decoder together: three kinds of attention, and what weight sharing does."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import cells, frame, tables, writing
from viz.pages.lessons.both import reach as both_reach
from viz.pages.lessons.both import texts as both_texts
from viz.pages.lessons.prose import plain
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.text import reading
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from plotly.graph_objects import Figure
    from torch import Tensor

    from models.lessons.sharing import Shared
    from models.run import Model
    from models.seq2seq import Seq2SeqConfig
    from models.trace import Trace

NAME = "both"
KINDS = {
    "self": "source on itself",
    "causal": "target on itself",
    "cross": "target on source",
}
SCALINGS = {"emb": "emb", "prj": "prj", "none": "none"}
YES = {"yes": "shared", "no": "its own"}
VOCAB, DIM = 200, 64
PARAMS = (
    link.text("date", "3 March 1998"),
    link.text("read", "the dog saw the cat"),
    link.text("write", "der Hund sah die Katze"),
    link.choice("kind", "cross", KINDS),
    link.number("head", 0, 0, 3),
    link.choice("target", "yes", YES),
    link.choice("source", "yes", YES),
    link.choice("scaling", "emb", SCALINGS),
    link.number("words", VOCAB, 100, 300, 100),
    *both_reach.PARAMS,
)


def draw() -> None:
    """The lesson, top to bottom."""
    frame.text(*both_texts.TEXT)
    frame.formula(
        r"\operatorname{softmax}\!\Big(\frac{(X W^Q)(E W^K)^\top}{\sqrt{d}}\Big) E W^V",
        r"X \text{: target} \qquad E \text{: encoded source}",
    )
    frame.heading("Three kinds of attention")
    try:
        _three_kinds()
    except ValueError as error:
        shared.error_line(error)
    frame.heading("One matrix or three")
    frame.text(*both_texts.SHARING_TEXT)
    try:
        _sharing()
    except ValueError as error:
        shared.error_line(error)
    frame.heading("Parallelism and view")
    frame.text(*both_texts.REACH_TEXT)
    both_reach.draw()
    frame.tries(NAME, *both_texts.TRIES)
    _code()
    frame.took(*both_texts.TAKEN)


def _said(name: str) -> str:
    return st.session_state[f"{NAME}_{name}"]


def _three_kinds() -> None:
    from viz import figures

    known = writing.there("dates")
    _inputs(known)
    trace = _trace(known)
    if known:
        reading.tell(trace.tokens[0].labels)
    kind, head = _said("kind"), int(_said("head"))
    weights = trace.weights(layer=0, head=head, kind=kind)
    site = next(site for site in trace.sites if (site.layer, site.kind) == (0, kind))
    rows, cols = trace.query_labels(site), trace.key_labels(site)
    title = f"{trace.model} · {KINDS[kind]} · layer 0, head {head}"
    drawn = figures.heatmap(
        weights.numpy(),
        title=title,
        x="key (attended to)",
        y="query (attends)",
        bar="weight",
        low=0,
        high=1,
        height=110 + 26 * len(rows),
    )
    named(drawn, rows, cols)
    frame.figure(NAME, drawn, "kinds", f"Weights: {title}")
    frame.show(
        f'<div class="lesson-columns">{tables.lines(*_looks(weights, rows, cols, kind))}</div>'
    )
    frame.shapes(
        *(
            (KINDS[each.kind], f"{each.heads} heads × {each.queries} queries × {each.keys} keys")
            for each in trace.sites
            if each.layer == 0
        )
    )
    if known:
        label = "Open this date in the explorer"
        frame.explore(label, model="dates", input=_said("date"), attention=kind, head=head)


def _looks(weights: "Tensor", rows: Sequence[str], cols: Sequence[str], kind: str) -> Iterator[str]:
    """Where each query looks most; in the decoder also the token that its row tells."""
    share, place = (found.tolist() for found in weights.max(-1))
    queries, keys = ([plain(reading.visible(n)) for n in names] for names in (rows, cols))
    after = [f" tells “{token}” and" for token in queries[1:]] if kind != "self" else []
    told = [*after, *[""] * (len(queries) - len(after))]
    for name, next_, at, most in zip(queries, told, place, share, strict=True):
        found = f"“{keys[at]}” ({at + 1} of {len(keys)}): **{number(most)}**"
        yield f"“{name}”{next_} looks most at {found}"


def _inputs(known: bool) -> None:
    """What is read and written, and which weights of it are shown."""
    if known:
        frame.text(*both_texts.ALIGNED_TEXT)
    else:
        shared.notice(writing.missing("dates"))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        if known:
            st.text_input(
                "A date, in words or numbers", key=f"{NAME}_date", persist_state="session"
            )
        else:
            st.text_input("Source", key=f"{NAME}_read", persist_state="session")
            st.text_input("Target", key=f"{NAME}_write", persist_state="session")
        controls.choice(NAME, "kind", "Which looks at which", KINDS, "The three kinds")
        controls.slider(NAME, "head", "Head", (0, 3), "Whose weights are shown")


def _trace(known: bool) -> "Trace":
    if known:
        text = _said("date").strip()
        if not text:
            raise ValueError("date: expected some letters, received none")
        return shared.traced(shared.Choice("dates"), shared.device(), text).trace
    from models.run import trace

    return trace(_untrained(), _said("read"), _said("write"))


@st.cache_resource(show_spinner=False)
def _untrained() -> "Model":
    from models.run import load

    return load(_config("emb", share_target=True, share_source=True, vocab=VOCAB))


def _config(scaling: str, *, share_target: bool, share_source: bool, vocab: int) -> "Seq2SeqConfig":
    from models.seq2seq import Seq2SeqConfig

    return Seq2SeqConfig(
        source_vocab=vocab,
        target_vocab=VOCAB,
        dim=DIM,
        depth=1,
        heads=4,
        d_k=16,
        d_v=16,
        mlp=128,
        dropout=0.0,
        share_target=share_target,
        share_source=share_source,
        scaling=scaling,
        embed_norm=False,
    )


def named(figure: "Figure", rows: Sequence[str], cols: Sequence[str]) -> None:
    """Puts the tokens at the axes: by place, so that two equal ones stay apart."""
    for update, labels in ((figure.update_yaxes, rows), (figure.update_xaxes, cols)):
        shown = [escape(reading.visible(label), quote=False) for label in labels]
        update(tickvals=list(range(len(shown))), ticktext=shown, tickangle=0)


def _sharing() -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        told = "Whether the output matrix is the target's embedding"
        controls.choice(NAME, "target", "Output matrix", YES, told)
        told = "Whether the source's embedding is the target's"
        controls.choice(NAME, "source", "Source embedding", YES, told)
        controls.choice(
            NAME,
            "scaling",
            "Scaling",
            SCALINGS,
            "emb: the embedding times √d; prj: the logits by √d",
        )
        span, told = (100, 300), f"The target has {VOCAB}"
        controls.slider(NAME, "words", "Source words", span, told, step=100)
    share = {"share_target": _said("target") == "yes", "share_source": _said("source") == "yes"}
    found = {
        name: _measured(_config(name, vocab=int(_said("words")), **share)) for name in SCALINGS
    }
    chosen = _said("scaling")
    rows = [
        [
            f"**{name}**" if name == chosen else name,
            number(one.weights),
            number(one.embeddings),
            number(one.positions),
            number(one.logits),
        ]
        for name, one in found.items()
    ]
    titles = ("scaling", "matrix", "embedding", "positions", "logits")
    frame.show(
        cells.table(
            titles, rows, title=f"Size of the numbers ([[standard deviation]]), width {DIM}"
        ),
        tables.facts(
            ("matrices of words × width", str(found[chosen].matrices)),
            ("[[parameters]]", f"{found[chosen].parameters:,}"),
            (f"{chosen}: embedding / positions", _ratio(found[chosen])),
        ),
    )


def _ratio(found: "Shared") -> str:
    return number(found.embeddings / found.positions)


@st.cache_resource(max_entries=64, show_spinner=False)
def _measured(config: "Seq2SeqConfig") -> "Shared":
    from models.lessons.sharing import shared as measured

    return measured(config)


def _code() -> None:
    from models.blocks import PostNormDecoderBlock
    from models.lessons import reach, sharing
    from models.seq2seq import Seq2Seq

    frame.code(
        NAME, Seq2Seq.forward, PostNormDecoderBlock.forward, sharing.shared, reach.cost, reach.seen
    )

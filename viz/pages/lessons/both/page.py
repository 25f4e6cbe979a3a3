"""Encoder and decoder together: three kinds of attention, and what weight sharing does."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import frame, generation, tables
from viz.pages.lessons.both import texts
from viz.pages.lessons.both.story import STORY
from viz.pages.lessons.markup import plain
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.text import reading, tracing
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
DATES = shared.Choice("dates")
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
)
# of older links, to what is now in the lesson "sequences"
RETIRED = tuple(map(link.retired, ("length", "width", "kernel", "layers", "position")))


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, (*PARAMS, *RETIRED)):
        frame.story(NAME, STORY)
        with frame.details(NAME, PARAMS):
            _details()
        _code()
        frame.takeaways(*texts.TAKEAWAYS)


def _details() -> None:
    frame.text(*texts.TEXT)
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
    frame.text(*texts.SHARING_TEXT)
    try:
        _sharing()
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, PARAMS, *texts.TRIES)


def _three_kinds() -> None:
    from viz import figures

    trained = generation.available("dates")
    kind, head = _inputs(trained)
    trace = _trace(trained)
    if trained:
        for remark in reading.remarks(trace.tokens[0].labels):
            shared.notice(remark)
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
    _label(drawn, rows, cols)
    frame.figure(NAME, drawn, "kinds", f"Weights: {title}")
    frame.show(
        f'<div class="lesson-columns">{tables.lines(*_strongest(weights, rows, cols, kind))}</div>'
    )
    frame.shapes(
        *(
            (KINDS[each.kind], f"{each.heads} heads × {each.queries} queries × {each.keys} keys")
            for each in trace.sites
            if each.layer == 0
        )
    )
    if trained:
        label, date = "Open this date in the explorer", session.get(NAME, "date")
        frame.explore(label, model="dates", input=date, attention=kind, head=head)


def _strongest(
    weights: "Tensor", rows: Sequence[str], cols: Sequence[str], kind: str
) -> Iterator[str]:
    """The key with the largest weight for each query; in the decoder, also the predicted token."""
    share, best = (found.tolist() for found in weights.max(-1))
    queries, keys = ([plain(reading.visible(n)) for n in names] for names in (rows, cols))
    after = [f" predicts “{token}” and" for token in queries[1:]] if kind != "self" else []
    predicts = [*after, *[""] * (len(queries) - len(after))]
    for name, next_, at, most in zip(queries, predicts, best, share, strict=True):
        found = f"“{keys[at]}” (position {at}): **{number(most)}**"
        yield f"“{name}”{next_} attends most to {found}"


def _inputs(trained: bool) -> tuple[str, int]:
    """The controls of the input; returns the kind and head of the weights to show."""
    if trained:
        frame.text(*texts.ALIGNED_TEXT)
    else:
        shared.notice(generation.missing("dates"))
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        if trained:
            controls.text_input(NAME, "date", "A date, in words or numbers", width=300)
        else:
            controls.text_input(NAME, "read", "Source", width=300)
            controls.text_input(NAME, "write", "Target", width=300)
        kind = controls.choice(NAME, "kind", "What attends to what", KINDS, "The three kinds")
        return kind, controls.slider(NAME, "head", "Head", (0, 3), "Whose weights are shown")


def _trace(trained: bool) -> "Trace":
    if trained:
        text = session.get(NAME, "date").strip()
        if not text:
            raise ValueError("date: expected some letters, received none")
        return tracing.traced(tracing.Input(DATES, shared.device(), text)).value
    from models.run import trace

    return trace(_untrained(), session.get(NAME, "read"), session.get(NAME, "write"))


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


def _label(figure: "Figure", rows: Sequence[str], cols: Sequence[str]) -> None:
    """Labels the axes with tokens by position, so that equal tokens are not merged."""
    for update, labels in ((figure.update_yaxes, rows), (figure.update_xaxes, cols)):
        shown = [escape(reading.visible(label), quote=False) for label in labels]
        update(tickvals=list(range(len(shown))), ticktext=shown, tickangle=0)


def _sharing() -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        help = "Whether the output matrix is the target embedding"
        target = controls.choice(NAME, "target", "Output matrix", YES, help)
        help = "Whether the source embedding is the target embedding"
        source = controls.choice(NAME, "source", "Source embedding", YES, help)
        help = "emb: embedding times √d; prj: logits divided by √d"
        chosen = controls.choice(NAME, "scaling", "Scaling", SCALINGS, help)
        help = f"Size of the source vocabulary; the target has {VOCAB}"
        words = controls.slider(NAME, "words", "Source words", (100, 300), help, step=100)
    share = {"share_target": target == "yes", "share_source": source == "yes"}
    found = {name: _measured(_config(name, vocab=words, **share)) for name in SCALINGS}
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
    title = f"Size of the numbers ([[standard deviation]]), width {DIM}"
    frame.show(
        tables.table(title, ("scaling", "matrix", "embedding", "positions", "logits"), rows),
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
        NAME,
        Seq2Seq.forward,
        PostNormDecoderBlock.forward,
        sharing.shared,
        reach.multiplications,
    )

"""Many heads: any number and width, computed at once or in a loop; and the heads of MiniLM."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import course, frame, tables
from viz.pages.lessons.heads import texts
from viz.pages.lessons.heads.story import STORY
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.text import tracing
from viz.pages.widgets import controls, entry

if TYPE_CHECKING:
    from models.attention import MultiHeadAttention, MultiHeadAttentionConfig, Pattern

NAME = "heads"
STEPS = ("project", "split", "scores", "softmax", "· v", "join", "$W^O$")
WIDTHS = {"split": "model width / heads", "wide": "model width", "free": "free"}
SCALES = {"sqrt": "q·k by √d", "fourth root": "q and k by ∜d each"}
PROJECTIONS = {"always": "always", "needed": "left out where nothing is joined"}
AMONG = {"all": "all tokens", "words": "words alone"}
MINILM = shared.Choice("minilm")
SHORTEST = 4  # minimum tokens, including the special ones at both ends
SHOWN = 6  # maximum tokens, heads and features shown in full
PARAMS = (
    link.number("dim", 16, 1, 128),
    link.number("heads", 4, 1, 20),
    link.choice("width", "split", WIDTHS),
    link.number("own", 64, 1, 64),
    link.number("reads", 0, 0, 128),
    link.number("tokens", 4, 1, 8),
    link.number("batch", 1, 1, 16),
    link.choice("scaling", "sqrt", SCALES),
    link.choice("project", "always", PROJECTIONS),
    link.number("seed", 0, 0, 999),
    frame.step(STEPS),
    link.text("sentence", "The animal didn't cross the street because it was too tired."),
    link.number("layer", 0, 0, 5),
    link.number("head", 2, 0, 11),
    link.choice("among", "all", AMONG),
)


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, PARAMS):
        frame.story(NAME, STORY)
        with frame.details(NAME, PARAMS):
            _details()
        _code()
        frame.takeaways(*texts.TAKEAWAYS)


def _details() -> None:
    frame.text(*texts.TEXT)
    frame.formula(
        r"\text{head}_i = \operatorname{softmax}\!\Big(\frac{(X W^Q_i)(X W^K_i)^\top}{\sqrt{d}}"
        r"\Big) X W^V_i",
        r"\text{out} = [\text{head}_1 \dots \text{head}_h]\, W^O",
    )
    frame.text(texts.WHERE)
    frame.heading("A layer with random weights")
    frame.text(texts.LAYER)
    _controls()
    at = frame.stepper(NAME, STEPS)
    try:
        _layer(at)
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, PARAMS, *texts.TRIES)
    frame.heading("The heads of a trained model")
    frame.text(*texts.TRAINED_TEXT)
    try:
        _trained()
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, PARAMS, *texts.TRAINED_TRIES, part="trained")


def _controls() -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        help = "Width of each output token"
        controls.slider(NAME, "dim", "Model width (dim)", (1, 128), help)
        controls.slider(NAME, "heads", "Heads", (1, 20), "Number of heads in parallel")
        help = "Width of a query, key or value in each head"
        width = controls.choice(NAME, "width", "Width of each head, d", WIDTHS, help)
        if width == "free":
            controls.slider(NAME, "own", "d", (1, 64), help)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        controls.slider(NAME, "tokens", "Tokens", (1, 8), "Number of tokens in a text")
        controls.slider(NAME, "batch", "Texts at once", (1, 16), "Batch size")
        help = "Width of each input token; 0 means the model width"
        controls.slider(NAME, "reads", "Input width (0: model's)", (0, 128), help, width=180)
        controls.seed(NAME)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        help = (
            f"Where dot products are scaled: lesson {course.number('scale')} shows the difference"
        )
        controls.choice(NAME, "scaling", "Divide", SCALES, help)
        help = "A single head as wide as the model needs no output projection"
        controls.choice(NAME, "project", "$W^O$", PROJECTIONS, help)


def _config() -> "MultiHeadAttentionConfig":
    from models.attention import MultiHeadAttentionConfig

    settings = session.current(NAME).settings
    widths = {"split": None, "wide": settings["dim"], "free": settings["own"]}
    return MultiHeadAttentionConfig(
        dim=settings["dim"],
        heads=settings["heads"],
        head_dim=widths[settings["width"]],
        input_dim=settings["reads"] or None,
        dot_scaling=settings["scaling"],
        out_projection=settings["project"],
    )


def _layer(at: int) -> None:
    """The layer's shapes, the weights of its heads, and both ways to compute it."""
    import torch

    from models.attention import MultiHeadAttention
    from models.seeding import seeded
    from models.simple import head_by_head

    config, settings = _config(), session.current(NAME).settings
    with seeded(settings["seed"]):
        layer = MultiHeadAttention(config).eval()
        reads = config.dim if config.input_dim is None else config.input_dim
        x = torch.randn(settings["batch"], settings["tokens"], reads)
    with torch.no_grad():
        out, pattern = layer(x)
        again, _ = head_by_head(layer, x)
    _shapes(config, x.shape, at)
    _projected(pattern, divided=config.dot_scaling == "fourth root", split=at >= 1)
    if at >= 2:
        _weights(pattern, softmaxed=at >= 3)
    if at >= STEPS.index("· v"):
        _values(pattern, joined=at > STEPS.index("· v"))
    if at >= len(STEPS) - 1:
        _both_ways(out[0, 0].tolist(), again[0, 0].tolist(), (out - again).abs().max().item())
    _parameters(layer)


def _shapes(config: "MultiHeadAttentionConfig", x: tuple[int, ...], at: int) -> None:
    """The shapes after every step."""
    batch, tokens, reads = x
    inside, width = config.heads * config.width, config.width
    flat, split = f"{batch} × {tokens} × {inside}", f"{batch} × {config.heads} × {tokens} × {width}"
    square = f"{batch} × {config.heads} × {tokens} × {tokens}"
    out = (
        "W^{O} (left out)"
        if not config.has_projection
        else f"W^{{O}} {config.merged} × {config.dim}"
    )
    divided = (
        f"q kᵀ / √{width}" if config.dot_scaling == "sqrt" else f"(q / ∜{width}) (k / ∜{width})ᵀ"
    )
    lines = [
        f"**1 project** x {batch} × {tokens} × {reads} times three matrices {reads} × {inside}:"
        f" q, k, v {flat}",
        f"**2 split** every token's {inside} numbers into"
        f" {tables.counted(config.heads, 'head')} of {width}: {split}",
        f"**3 scores** {divided} in every head: {square}",
        f"**4 softmax** of every row: {square}",
        f"**5 · v** weighted sums of values: {split}",
        f"**6 join** the heads side by side again: {flat}",
        f"**7 {out}** gives {batch} × {tokens} × {config.dim}",
    ]
    frame.show(tables.lines(*lines[: at + 1]))


def _projected(pattern: "Pattern", *, divided: bool, split: bool) -> None:
    """Query, key and value of the first token: in one row, or split into heads.

    Args:
        pattern: of the layer.
        divided: whether q and k have been divided by ∜d each.
        split: whether they are split into heads.
    """
    by = " / ∜d" if divided else ""
    parts = {f"q{by}": pattern.q, f"k{by}": pattern.k, "v": pattern.v}
    rows = {name: part[0, :, 0].tolist() for name, part in parts.items()}
    if not split:
        flat = [[value for head in heads for value in head] for heads in rows.values()]
        title = _first(f"Token 1: q, k and v, {len(flat[0])} numbers each", len(flat[0]), 2 * SHOWN)
        cut = [row[: 2 * SHOWN] for row in flat]
        frame.show(
            tables.matrix(
                cut, title=title, rows=list(rows), axes=("vector", "number"), kind="signed"
            )
        )
        return
    shown = [
        tables.matrix(
            [head[:SHOWN] for head in heads[:SHOWN]],
            title=f"Token 1: {_of_heads(name, heads)}",
            rows=[f"head {number}" for number in range(len(heads[:SHOWN]))],
            axes=("head", "feature"),
            kind="signed",
            digits=2,
        )
        for name, heads in rows.items()
    ]
    frame.show(tables.row(*shown))


def _of_heads(name: str, heads: Sequence[Sequence[float]]) -> str:
    """The title of a table with the numbers of some or all heads."""
    count = len(heads)
    whose = f"the first {SHOWN} of {count} heads" if count > SHOWN else "every head"
    return _first(f"{name} of {whose}", len(heads[0]), SHOWN)


def _first(title: str, count: int, shown: int) -> str:
    return f"{title}, the first {shown} numbers" if shown < count else title


def _weights(pattern: "Pattern", *, softmaxed: bool) -> None:
    """The weights of the first heads among the first tokens, or their scores."""
    found = pattern.weights(item=0) if softmaxed else pattern.scores(item=0)
    heads, tokens = min(SHOWN, found.shape[0]), min(SHOWN, found.shape[1])
    names = [f"token {n}" for n in range(1, tokens + 1)]
    shown = [
        tables.matrix(
            found[head, :tokens, :tokens].tolist(),
            title=f"Head {head}: {'[[weights]]' if softmaxed else '[[score|scores]]'}",
            rows=names,
            cols=[str(n) for n in range(1, tokens + 1)],
            axes=("query", "key"),
            kind="weights" if softmaxed else "signed",
            digits=2,
        )
        for head in range(heads)
    ]
    left = [f"{found.shape[0] - heads} more heads"] * (found.shape[0] > heads)
    left += [f"{found.shape[1] - tokens} more tokens"] * (found.shape[1] > tokens)
    frame.show(tables.row(*shown))
    if left:
        st.caption(f"Not drawn: {', '.join(left)}.")


def _values(pattern: "Pattern", *, joined: bool) -> None:
    """The output of every head for the first token, and their concatenation."""
    from models.lessons.followed import follow

    found = [follow(pattern, head=head).values[0].tolist() for head in range(pattern.heads)]
    wide = min(SHOWN, len(found[0]))
    shown = [
        tables.matrix(
            [row[:wide] for row in found[:SHOWN]],
            title=f"Token 1: {_of_heads('weights · v', found)}",
            rows=[f"head {head}" for head in range(len(found[:SHOWN]))],
            axes=("head", "feature"),
            kind="signed",
        )
    ]
    if joined:
        together = [value for row in found for value in row]
        first = [together[: 2 * SHOWN]]
        title = f"Joined: {len(found)} × {len(found[0])} = {len(together)} numbers"
        title = _first(title, len(together), 2 * SHOWN)
        shown.append(tables.matrix(first, title=title, axes=("token", "number"), kind="signed"))
    frame.show(tables.row(*shown))


def _both_ways(once: list[float], looped: list[float], difference: float) -> None:
    wide = min(SHOWN, len(once))
    frame.show(
        tables.matrix(
            [once[:wide], looped[:wide]],
            title="Token 1 of the result, computed both ways",
            rows=("all heads at once", "one after another"),
            axes=("way", "feature"),
            note=f"Largest difference anywhere: {difference:.1e}; float32 has about seven digits.",
        )
    )


def _parameters(layer: "MultiHeadAttention") -> None:
    parts = {"W^{Q}": layer.query, "W^{K}": layer.key, "W^{V}": layer.value, "W^{O}": layer.out}
    counted = {name: sum(p.numel() for p in part.parameters()) for name, part in parts.items()}
    frame.shapes(
        *((name, f"{count:,}") for name, count in counted.items()),
        ("[[Parameters]] with biases", f"{sum(counted.values()):,}"),
    )


def _trained() -> None:
    """A table of MiniLM's heads on the user's sentence, and the numbers of one head.

    Raises:
        ValueError: for no sentence, or one that is too short or too long.
    """
    from analysis.habits import HABITS, habits

    sentence = entry.text(NAME, "sentence", "Your sentence").strip()
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        layer = controls.slider(NAME, "layer", "Layer", (0, 5), "Layer of the marked head")
        help = "The head that is marked, with its numbers below"
        head = controls.slider(NAME, "head", "Head", (0, 11), help)
        help = "Without [CLS] and [SEP], the remaining weights are renormalised"
        among = controls.choice(NAME, "among", "Weights on", AMONG, help)
    if not sentence:
        raise ValueError("sentence: expected some words, received none")
    trace = tracing.traced(tracing.Input(MINILM, shared.device(), sentence)).value
    if len(trace.labels) < SHORTEST:
        raise ValueError("sentence: expected two words or more, received one")
    found = habits(trace, words=among == "words")
    frame.show(
        tables.shares(
            found.names,
            found.scores.amax(0).tolist(),
            title=f"MiniLM · {tables.counted(len(trace.labels), 'token')}",
            rows=[f"layer {n}" for n in range(len(found.names))],
            cols=[f"head {n}" for n in range(len(found.names[0]))],
            mark=(layer, head),
            line="the habit a head comes closest to, and its mean weight",
        ),
        tables.facts(
            ("marked", f"layer {layer}, head {head}"),
            *(
                (habit, number(score))
                for habit, score in zip(HABITS, found.scores[:, layer, head].tolist(), strict=True)
            ),
            ("evenness", number(found.spread[layer, head].item())),
        ),
        '<p class="lesson-note">Evenness is 1 if all tokens get the same weight, and 0 if one gets'
        " it all; a head is called broad from 0.8 on.</p>",
    )
    label = f"Open layer {layer}, head {head} in the explorer"
    frame.explore(label, input=sentence, layer=layer, head=head)


def _code() -> None:
    from analysis import habits
    from models.attention import MultiHeadAttention
    from models.simple import head_by_head

    frame.code(NAME, MultiHeadAttention.forward, head_by_head, habits.habits)

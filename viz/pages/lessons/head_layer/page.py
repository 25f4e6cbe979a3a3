"""The head layer: projection, softmax, cross entropy and top-k, for four words of three numbers."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.api.figures.head_layer import WEIGHTS as W
from viz.api.figures.head_layer import WORDS
from viz.pages import shared
from viz.pages.lessons import frame, inputs, tables
from viz.pages.lessons.head_layer import texts
from viz.pages.lessons.head_layer.story import STORY
from viz.pages.lessons.tables import bracketed, number
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.text import reading, tracing
from viz.pages.widgets import cards, controls

if TYPE_CHECKING:
    from models.lessons.loss_steps import LossSteps

NAME = "head_layer"
STEPS = ("h", "W h", "exp", "softmax", "−log p")
FEATURES = ("feature 0", "feature 1", "feature 2")
H = ((1.2, -0.4, 0.7),)
OTHERS = ((-0.9, 0.8, 1.1), (0.2, 1.3, 0.1), (-0.6, -1.4, -0.3))  # more vectors of the batch
TARGETS = (2, 1, 0)  # what should come after them
FEWEST, MOST = 4, 12  # word lengths that the trained network can reverse
SMOOTHING = ("0", "0.1", "0.3")
FACTORS = ("0.25", "0.5", "1", "2")  # weights of the loss
REVERSE = shared.Choice("reverse")
PARAMS = (
    *inputs.params("h", H),
    *inputs.params("w", W),
    frame.step(STEPS),
    link.number("target", 1, 1, len(WORDS)),
    link.number("k", 1, 1, len(WORDS)),
    link.choice("smoothing", "0", SMOOTHING),
    link.choice("loss_weight", "1", FACTORS),
    link.text("letters", "stream"),
    link.number("position", 0, 0, MOST - 1),
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
        r"p = \operatorname{softmax}(W h) = \frac{\exp(W h)}{\sum_i \exp(W h)_i}",
        r" \text{loss} = -\log p_{\text{target}}",
    )
    frame.heading("“The dog began to …”: one vector, four words")
    frame.text(*texts.STEP_TEXT)
    hidden = inputs.grid(NAME, "h", ("h",), FEATURES)
    with st.expander("Change the matrix W"):
        weights = inputs.grid(NAME, "w", WORDS, FEATURES)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        words = dict(enumerate(WORDS, 1))
        help = "The target of the loss"
        target = controls.choice(NAME, "target", "The right word", words, help) - 1
        shares = {each: each for each in SMOOTHING}
        help = "Share of the target spread evenly over all words"
        controls.choice(NAME, "smoothing", "Label smoothing", shares, help)
    at = frame.stepper(NAME, STEPS)
    found = _steps(hidden[0], weights, target)
    _picture(hidden, weights, found, target, at)
    _batch(hidden[0], weights, target)
    try:
        _trained()
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, PARAMS, *texts.TRIES)


def _steps(hidden: list[float], weights: list[list[float]], target: int) -> "LossSteps":
    import torch

    from models.lessons import loss_steps

    logits = loss_steps.project(torch.tensor(hidden), torch.tensor(weights))
    smoothing = float(session.get(NAME, "smoothing"))
    return loss_steps.loss_steps(logits, target, smoothing=smoothing)


def _picture(
    hidden: list[list[float]],
    weights: list[list[float]],
    found: "LossSteps",
    target: int,
    at: int,
) -> None:
    right = (target, None)
    parts = [
        tables.matrix(hidden, title="h", cols=FEATURES, axes=("vector", "feature")),
        tables.row(
            tables.matrix(weights, title="W", rows=WORDS, axes=("word", "feature"), kind="signed"),
            _column(found.logits.tolist(), "[[Logits]] W h", "signed", right),
        ),
        _column(found.exponentials.tolist(), "exp(logit − largest)", "plain", right),
        _column(found.probabilities.tolist(), "Probabilities p", "weights", right),
        _column(found.gradient.tolist(), "Gradient of the loss", "signed", right),
    ]
    names = ("h", "W and W h", "exp(logit − largest)", "Probabilities p", "Gradient of the loss")
    shown = [part if n <= at else tables.pending(names[n]) for n, part in enumerate(parts)]
    lines = _sums(hidden[0], weights, found, target)[: at + 1]
    frame.show(tables.row(*shown), tables.lines(*lines))
    sizes = (len(WORDS), len(FEATURES))
    frame.shapes(
        ("h", f"{sizes[1]} features"),
        ("W", f"{sizes[0]} words × {sizes[1]} features = {sizes[0] * sizes[1]} [[parameters]]"),
        ("logits, p", f"{sizes[0]} words"),
        ("loss", "1 number"),
    )


def _column(values: list[float], title: str, kind: str, mark: tuple[int, None]) -> str:
    rows = [[value] for value in values]
    return tables.matrix(
        rows, title=title, rows=WORDS, axes=("word", "number"), kind=kind, mark=mark
    )


def _sums(
    hidden: list[float], weights: list[list[float]], found: "LossSteps", target: int
) -> list[str]:
    """The numbers of the target word, written out as sums."""
    word, logit = WORDS[target], found.logits[target].item()
    largest = found.logits.max().item()
    shares = " + ".join(number(each) for each in found.exponentials.tolist())
    likely = WORDS[int(found.order[0])]
    smoothed = float(session.get(NAME, "smoothing"))
    share = smoothed / len(WORDS)
    aim = "1" if not smoothed else f"{1 - smoothed + share:g}"
    gradient = (
        f"{number(found.probabilities[target].item())} − {aim} ="
        f" **{number(found.gradient[target].item())}**"
    )
    loss = f"**−log p** = **{number(found.loss.item())}**"
    if smoothed:
        logs = (-found.probabilities.log()).tolist()
        shares_of = [share + (1 - smoothed) * (n == target) for n in range(len(WORDS))]
        loss = (
            f"**loss**: −log p of every word, each with its share of the target:"
            f" {tables.dot(shares_of, logs)} = **{number(found.loss.item())}**"
        )
    return [
        f"**h** = ({', '.join(map(number, hidden))})",
        f"**W h** “{word}”: {tables.dot(weights[target], hidden)} = **{number(logit)}**",
        f"**exp** “{word}”: exp({number(logit)} − {bracketed(number(largest))}) ="
        f" **{number(found.exponentials[target].item())}**",
        f"**softmax** {number(found.exponentials[target].item())} / ({shares}) ="
        f" **{number(found.probabilities[target].item())}**; the likeliest is “{likely}”",
        f"{loss}; “{word}” is number {found.rank} of"
        f" {len(WORDS)}, the likeliest first. **Gradient** “{word}”: {gradient}",
    ]


def _batch(hidden: list[float], weights: list[list[float]], target: int) -> None:
    import torch

    from models.lessons import loss_steps
    from models.output import cross_entropy, softmax, top_k_accuracy

    frame.heading("Top-k: how often the right word is among the best")
    frame.text(*texts.BATCH_TEXT)
    ranks = {n: f"top-{n}" for n in range(1, len(WORDS) + 1)}
    help = "Number of largest logits that count as guesses"
    k = controls.choice(NAME, "k", "How many guesses", ranks, help)
    help = "Factor of the loss, and so of every gradient, where it is one of several"
    weight = float(
        controls.choice(NAME, "loss_weight", "Weight of the loss", {n: n for n in FACTORS}, help)
    )
    vectors, targets = [hidden, *OTHERS], [target, *TARGETS]
    matrix = torch.tensor(weights)
    logits = torch.stack([loss_steps.project(torch.tensor(h), matrix) for h in vectors])
    wanted = torch.tensor(targets)
    rows = ["yours", *(f"vector {n}" for n in range(2, len(vectors) + 1))]
    smoothing = float(session.get(NAME, "smoothing"))
    each = [
        loss_steps.loss_steps(row, right, smoothing=smoothing)
        for row, right in zip(logits, targets, strict=True)
    ]
    lines = [
        f"**{name}**: right is “{WORDS[right]}”, number {step.rank}:"
        f" {'among' if step.rank <= k else 'not among'} the best {k}; loss"
        f" {number(step.loss.item())}"
        for name, right, step in zip(rows, targets, each, strict=True)
    ]
    frame.show(
        tables.matrix(
            softmax(logits).tolist(),
            title="Probabilities of the batch",
            rows=rows,
            cols=WORDS,
            axes=("vector", "word"),
            kind="weights",
        ),
        tables.lines(*lines),
        tables.facts(
            *(
                (f"{name} accuracy", number(top_k_accuracy(logits, wanted, n).item()))
                for n, name in ranks.items()
            ),
            (
                "mean loss" if weight == 1 else f"mean loss × {weight:g}",
                number(cross_entropy(logits, wanted, smoothing=smoothing, weight=weight).item()),
            ),
        ),
    )


def _trained() -> None:
    from analysis.outputs import top_tokens
    from viz.figures import bars

    frame.heading("The same in a trained network")
    frame.text(*texts.TRAINED_TEXT)
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        label = f"{FEWEST} to {MOST} letters"
        letters = controls.text_input(NAME, "letters", label, max_chars=MOST, width=300).strip()
        help = "Position in the answer, at most the last one"
        chosen = controls.slider(NAME, "position", "Position", (0, MOST - 1), help)
    if not FEWEST <= len(letters) <= MOST:
        raise ValueError(f"expected {FEWEST} to {MOST} letters, received {len(letters)}")
    trace = tracing.traced(tracing.Input(REVERSE, shared.device(), letters)).value
    card = cards.card(REVERSE.model)
    position = min(chosen, len(letters) - 1)
    for remark in reading.remarks(trace.tokens[0].labels):
        shared.notice(remark)
    if position < chosen:
        st.caption(f"The answer has {len(letters)} letters: the last one is shown.")
    found = top_tokens(trace, position, count=5)
    names = [card.tokens[id] for id in found.ids] if card else []
    title = f"“{letters}” backwards, position {position}"
    drawn = bars(names, found.probabilities, title=title, x="probability")
    frame.figure(NAME, drawn, "trained", f"Probabilities at position {position}")
    frame.explore("Open this word in the explorer", model="reverse", input=letters)


def _code() -> None:
    from models import output
    from models.lessons import loss_steps

    frame.code(
        NAME,
        output.Projection.forward,
        output.log_softmax,
        output.softmax,
        output.cross_entropy,
        output.top_k_accuracy,
        loss_steps.loss_steps,
    )

"""Sampling and the key–value cache: from logits to a drawn token, and what a step costs."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.pages import shared
from viz.pages.lessons import frame, generation, tables
from viz.pages.lessons.sampling import texts
from viz.pages.lessons.sampling.story import STORY
from viz.pages.state import params as link
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from torch import Tensor

NAME = "sampling"
WRITER = "grammar-next"
SHOWN = 10  # words in the charts
DRAWS = 1000
PARAMS = (
    link.text("start", "the king saw the queen because"),
    link.decimal("temperature", 1.0, 0.1, 5.0),
    link.number("k", 0, 0, 20),
    link.decimal("p", 1.0, 0.05, 1.0),
    link.number("seed", 0, 0, 999),
    link.number("tokens", 512, 2, 4096),
    link.number("dim", 768, 8, 2048, 8),
    link.number("depth", 12, 1, 48),
)


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, PARAMS):
        frame.story(NAME, STORY)
        with frame.details(NAME, PARAMS):
            _details()
        from models import decode
        from models.lessons import sampling

        frame.code(
            NAME, sampling.next_probabilities, sampling.draws, sampling.step_cost, decode._steps
        )
        frame.takeaways(*texts.TAKEAWAYS)


def _details() -> None:
    frame.text(*texts.TEXT)
    frame.formula(
        r"p_i = \frac{\exp(z_i / T)}{\sum_{j \in \text{kept}} \exp(z_j / T)}"
        r"\quad\text{for the tokens } i \text{ that are kept}"
    )
    frame.text(texts.SYMBOLS)
    frame.heading("The next word")
    start = controls.text_input(NAME, "start", "Words to go on from", width=320, max_chars=160)
    try:
        _sampled(start)
    except ValueError as error:
        shared.error_line(error)
    frame.tries(NAME, PARAMS, *texts.TRIES)
    frame.heading("What the cache saves")
    frame.text(*texts.CACHE)
    _costs()


def _sampled(start: str) -> None:
    """The probabilities of the next word before and after the settings, and draws."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        help = "Logits are divided by it"
        temperature = controls.decimal_slider(
            NAME, "temperature", "Temperature T", (0.1, 5.0), help, step=0.1, width=200
        )
        k = controls.slider(NAME, "k", "Top-k (0: all)", (0, 20), "How many tokens are kept")
        help = "How much probability is kept at least"
        p = controls.decimal_slider(NAME, "p", "Top-p", (0.05, 1.0), help, step=0.05, width=200)
        seed = controls.seed(NAME, "Seed of the draws")
    from models.lessons import sampling

    found = generation.generated(WRITER, start)
    logits = found.steps[0].logits[0].float()
    before = sampling.next_probabilities(logits)
    after = sampling.next_probabilities(logits, temperature=temperature, k=k, p=p)
    frame.text(*texts.BARS)
    frame.show(_bars(found.names, before, after, sampling.draws(after, DRAWS, seed=seed)))
    frame.shapes(
        ("tokens that can be drawn", f"{int((after > 0).sum())} of {len(after)}"),
        (
            "cached or not: probabilities of all steps differ by at most",
            f"{found.difference:.1e} (rounding)",
        ),
    )


def _bars(names: tuple[str, ...], before: "Tensor", after: "Tensor", drawn: "Tensor") -> str:
    best = before.argsort(descending=True, stable=True)[:SHOWN].tolist()
    return tables.row(
        tables.bars("The network", [(names[id], before[id].item()) for id in best], full=1.0),
        tables.bars("Drawn from", [(names[id], after[id].item()) for id in best], full=1.0),
        tables.bars(
            f"{DRAWS:,} draws", [(names[id], drawn[id].item()) for id in best], full=DRAWS, digits=0
        ),
    )


def _costs() -> None:
    """One more token with and without a cache."""
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        tokens = controls.slider(NAME, "tokens", "Tokens so far", (2, 4096), "Length of the text")
        dim = controls.slider(NAME, "dim", "Width", (8, 2048), "Of the model", step=8)
        depth = controls.slider(NAME, "depth", "Layers", (1, 48), "Of the model")
    from models.decoder import DecoderConfig
    from models.lessons import sampling

    config = DecoderConfig(vocab=50_000, dim=dim, depth=depth, heads=1, mlp=4 * dim)
    without, with_cache = (
        sampling.step_cost(config, tokens, cached=cached) for cached in (False, True)
    )
    rows = [
        ["without a cache", f"{without.multiplications:,}", "0"],
        ["with a cache", f"{with_cache.multiplications:,}", f"{with_cache.kept:,}"],
    ]
    cols = ("next token", "multiplications", "numbers kept")
    title = f"{depth} layers of width {dim}, hidden width {4 * dim:,}, 50,000 words"
    frame.show(
        tables.table(title, cols, rows),
        tables.facts(
            ("times fewer", f"{without.multiplications / with_cache.multiplications:,.1f}"),
            ("cache in 16 bits", f"{with_cache.kept * 2 / 2**20:,.1f} MiB"),
        ),
    )

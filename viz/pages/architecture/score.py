"""Loss and accuracy at several k of the Architecture page's network."""

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from models.request import Source
from viz import figures
from viz.api import tracing
from viz.pages import shared
from viz.pages.architecture import compute, network, presets, run
from viz.pages.architecture.presets import PAGE
from viz.pages.widgets import charts, controls

if TYPE_CHECKING:
    from models.model import Config

ITEMS = 200
MOST_KS, MOST_SHOWN = 6, 64  # ks in the link; largest k that is drawn


def show(config: "Config") -> None:
    """The loss, and the accuracy at each k, of a trained network on held-out items of its task."""
    model = "" if network.changed() else presets.trained(network.chosen())
    if not model:
        shared.notice(
            "This network is untrained, so its answers are guesses: choose one of the trained ones."
        )
        return
    st.markdown("How often is the right answer among the k likeliest classes?")
    with st.container(key=f"{PAGE}_score", horizontal=True, vertical_alignment="bottom"):
        text = controls.text_input(PAGE, "ks", "Accuracy at k", HELP, width=150)
        weight = controls.number(
            *(PAGE, "weight", "Loss weight", (0.0, 10.0), "The factor of the loss in training"),
            step=0.1,
            format="%.1f",
        )
    try:
        accuracy, loss, count = measured(run.source(config, model))
        ks = chosen(text, len(accuracy))
    except ValueError as error:
        shared.error_line(error)
        return
    _draw(accuracy, ks, _loss(loss, len(accuracy), float(weight)), count)


HELP = "Numbers of guesses, such as 1 3 5"


def chosen(text: str, classes: int) -> tuple[int, ...]:
    """The ks of a text, in order, none larger than the number of classes.

    Raises:
        ValueError: for anything but a few whole numbers from 1 on.
    """
    words = text.replace(",", " ").split()
    sound = all(word.isascii() and word.isdigit() and int(word[:9]) for word in words)
    if not words or not sound or len(words) > MOST_KS:
        raise ValueError(
            f"accuracy at k: expected up to {MOST_KS} whole numbers from 1 on, such as 1 3 5;"
            f" received {text[:30]!r}"
        )
    return tuple(sorted({min(int(word[:9]), classes) for word in words}))


def _draw(accuracy: np.ndarray, ks: tuple[int, ...], loss: str, count: int) -> None:
    """Bars for the chosen k, beside the curve of every k."""
    at = np.arange(1, min(len(accuracy), max(MOST_SHOWN, ks[-1])) + 1)
    title = f"{network.title()}: {count} answers to held-out items of its task"
    with charts.saved(PAGE, "score", title):
        left, right = st.columns([2, 3], gap="medium")
        with left:
            bars = figures.bars(
                [f"top-{k}" for k in ks],
                [float(accuracy[k - 1]) for k in ks],
                title="Accuracy at k",
                x="share of answers",
            )
            charts.chart(PAGE, bars, "accuracy", "Accuracy at each chosen k")
            st.markdown(loss)
        with right:
            curve = figures.curves(
                at,
                {
                    "this network": accuracy[: len(at)],
                    "chance: k / classes": at / len(accuracy),
                },
                title=title,
                x="k, number of guesses",
                y="share of answers among them",
                span=(0, 1.05),
                height=360,
            )
            charts.chart(PAGE, curve, "every_k", "Accuracy at every k, beside chance")
    st.caption(
        "An answer ranked far down costs more loss than a near miss, and both count as wrong: loss"
        " and accuracy need not move together."
    )


def _loss(loss: float, classes: int, weight: float) -> str:
    chance = float(np.log(classes))
    return (
        f"Loss **{loss:.3f}** (chance: ln {classes:,} = {chance:.3f});"
        f" × {weight:g} = **{weight * loss:.3f}**. The weight scales every gradient"
        " and leaves each accuracy as it is."
    )


@st.cache_resource(max_entries=8, show_spinner="Measuring …")
def measured(source: Source) -> tuple[np.ndarray, float, int]:
    """The accuracy at every k, the loss, and the number of answers to held-out items."""
    trained, task = tracing.opened(source), compute.RECIPES[source.catalogue].task
    with shared.forward_pass(trained):
        items = compute.draw(task, ITEMS, Random("accuracy"), held_out=True)
        logits, target = compute.answers(trained.network, task, items)
    ks = range(1, logits.shape[-1] + 1)
    accuracy = np.array([float(compute.top_k_accuracy(logits, target, k)) for k in ks])
    return accuracy, compute.cross_entropy(logits, target).item(), len(target)

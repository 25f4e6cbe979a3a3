"""Loss and accuracy at several k of the Architecture page's network."""

from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from models.request import Source
from viz import figures
from viz.api import tracing
from viz.pages import shared
from viz.pages.architecture import compute, cost, network, presets, run
from viz.pages.architecture.presets import PAGE
from viz.pages.widgets import charts, controls

if TYPE_CHECKING:
    from models.model import Config
    from train.task import Ranking

ITEMS = 200
SECONDS = 4.0  # of all passes; slower networks get fewer items
MOST_KS, MOST_SHOWN = 6, 64  # ks in the link; largest k that is drawn
TASK = "held-out items of its task"
RANDOM = "random inputs with random answers"


def show(config: "Config") -> None:
    """The loss, and the accuracy at each k, of the network on items with known answers."""
    if not _has_logits(config):
        shared.notice(
            "This network has no classes: choose a ViT with a head, a decoder or an"
            " encoder–decoder."
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
    model = "" if network.changed() else presets.trained(network.chosen())
    tokens, target = network.sizes(network.values())
    if not cost.allowed(config, _parts(config)):
        return
    try:
        ranking = measured(run.source(config, model), config, tokens, target)
        ks = chosen(text, ranking.classes)
    except ValueError as error:
        shared.error_line(error)
        return
    what = TASK if model else RANDOM
    _draw(ranking, ks, float(weight), f"{len(ranking.ranks)} answers to {what}")


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


def _draw(ranking: "Ranking", ks: tuple[int, ...], weight: float, what: str) -> None:
    """Bars for the chosen k, beside the curve of every k."""
    last = min(ranking.classes, max(MOST_SHOWN, ks[-1]))
    at = np.arange(1, last + 1)
    accuracy = np.array([ranking.accuracy(int(k)) for k in at])
    with charts.saved(PAGE, "score", f"{network.title()}: {what}"):
        left, right = st.columns([2, 3], gap="medium")
        with left:
            bars = figures.bars(
                [f"top-{k}" for k in ks],
                [float(accuracy[k - 1]) for k in ks],
                title="Accuracy at k",
                x="share of answers",
            )
            charts.chart(PAGE, bars, "accuracy", "Accuracy at each chosen k")
            st.markdown(_loss(ranking, weight))
        with right:
            curve = figures.curves(
                at,
                {"this network": accuracy, "chance: k / classes": at / ranking.classes},
                title=f"{network.title()}: {what}",
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


def _loss(ranking: "Ranking", weight: float) -> str:
    chance = float(np.log(ranking.classes))
    return (
        f"Loss **{ranking.loss:.3f}** (chance: ln {ranking.classes:,} = {chance:.3f});"
        f" × {weight:g} = **{weight * ranking.loss:.3f}**. The weight scales every gradient"
        " and leaves each accuracy as it is."
    )


@st.cache_resource(max_entries=8, show_spinner="Measuring …")
def measured(source: Source, config: "Config", tokens: int, target: int) -> "Ranking":
    """Ranks of the right answers: of the trained model's own task, or of random inputs."""
    trained = tracing.opened(source)
    with shared.forward_pass(trained):
        if source.catalogue:
            task: Any = compute.RECIPES[source.catalogue].task
            return compute.ranking(
                trained.network, task, compute.draw(task, ITEMS, Random("accuracy"), held_out=True)
            )
        seconds = cost.predicted(compute.parts(config, tokens, target))
        items = max(8, min(ITEMS, int(SECONDS / seconds)))
        task = compute.Chance(config, tokens, target)
        return compute.ranking(
            trained.network, task, [task.draw(Random(str(n))) for n in range(items)]
        )


def _parts(config: "Config") -> tuple[Any, ...]:
    return compute.parts(config, *network.sizes(network.values()))


def _has_logits(config: "Config") -> bool:
    if isinstance(config, compute.ViTConfig):
        return bool(config.layers)
    if isinstance(config, compute.EncoderConfig):
        return config.classes > 0
    return isinstance(config, compute.DecoderConfig | compute.Seq2SeqConfig)

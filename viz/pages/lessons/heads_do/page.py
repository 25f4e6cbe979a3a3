"""What heads do: roles by numbers, ablation, and why attention is not an explanation."""

from typing import TYPE_CHECKING

import streamlit as st

from viz.api.figures import heads_do as figure
from viz.pages import shared
from viz.pages.lessons import frame, tables
from viz.pages.lessons.heads_do import texts
from viz.pages.lessons.heads_do.story import STORY
from viz.pages.lessons.markup import plain
from viz.pages.lessons.tables import number
from viz.pages.state import params as link
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.decoder import Decoder

NAME = "heads_do"
INDUCTION, GRAMMAR = shared.Choice("induction"), shared.Choice("grammar-next")
ROLES = {"previous token": "previous", "induction": "induction", "first token": "first (sink)"}
KEYS, VALUES = 6, 2  # of the example of equal outputs
BOTH = {0: "0", 1: "1"}
PARAMS = (
    link.text("repeated", "junk dream vow junk dream"),
    link.number("length", 20, 4, 24),
    link.text("sentence", "the keys near the cabinet"),
    link.one_of("layer", 0, BOTH),
    link.one_of("head", 1, BOTH),
    link.number("seed", 0, 0, 999),
)


def page() -> None:
    """Draws the lesson."""
    with frame.lesson(NAME, PARAMS):
        frame.story(NAME, STORY)
        with frame.details(NAME, PARAMS):
            _details()
        frame.explore(
            "See the induction head at work",
            model="induction",
            input="junk dream vow junk",
            layer=1,
            head=1,
        )
        from models.edits import Ablate
        from models.lessons import head_roles

        frame.code(
            NAME,
            *(head_roles.repeats, head_roles.ablations, Ablate),
            *(head_roles.next_probabilities, head_roles.removals, head_roles.other_weights),
        )
        frame.takeaways(*texts.TAKEAWAYS)


def _details() -> None:
    frame.text(*texts.TEXT)
    for section in (_roles, _ablation, _removal, _same):
        try:
            section()
        except ValueError as error:
            shared.error_line(error)
    frame.tries(NAME, PARAMS, *texts.TRIES)


def _roles() -> None:
    """The numbers of the four heads of the induction network on one text."""
    frame.heading("Where it looks, on the whole text")
    frame.text(*texts.NUMBERS)
    text = controls.text_input(NAME, "repeated", "A text with a repeat", width=320, max_chars=60)
    import torch

    from analysis.heads import heads
    from models.run import trace

    model = shared.opened(INDUCTION, "cpu")
    with torch.no_grad():
        found = heads(trace(model, text))
    values = torch.stack([found[key].flatten() for key in ROLES], dim=1)
    frame.show(
        tables.matrix(
            values.tolist(),
            title="Mean weight",
            rows=[f"layer {n // 2}, head {n % 2}" for n in range(4)],
            cols=[*ROLES.values()],
            kind="weights",
            axes=("head", "number"),
        )
    )


def _ablation() -> None:
    frame.heading("What happens without it")
    frame.text(*texts.ABLATION)
    help = "Letters and digits before they are repeated"
    length = controls.slider(NAME, "length", "Signs", (4, 24), help)
    rows = [
        [
            "all heads" if each.layer is None else f"without layer {each.layer}, head {each.head}",
            number(each.loss),
            f"{each.accuracy:.1%}",
        ]
        for each in figure.ablations(length)
    ]
    cols = ("network", "[[cross entropy]]", "next token right")
    title = f"{figure.TEXTS} random texts of {length} + {length} signs, the second half"
    frame.show(tables.table(title, cols, rows))


def _removal() -> None:
    """Weight and effect of each key at the last position, for one head."""
    frame.heading("Attention is not explanation")
    frame.text(*texts.EXPLANATION)
    text = controls.text_input(NAME, "sentence", "Words", width=420, max_chars=160)
    with st.container(horizontal=True, gap="medium"):
        layer = controls.choice(NAME, "layer", "Layer", BOTH, "Of the head that is changed")
        head = controls.choice(NAME, "head", "Head", BOTH, "That is changed")
    import torch

    from models.lessons import head_roles

    tokens = shared.tokenizer(GRAMMAR, "cpu").encode(text)
    if len(tokens) < 2:
        raise ValueError("expected at least one word, received none")
    ids = torch.tensor(tokens.ids)
    found = head_roles.removals(_decoder(GRAMMAR), ids, layer, head)
    heaviest = max(found, key=lambda each: each.weight)
    strongest = max(found, key=lambda each: each.change)
    names = [f"{n} {label}" for n, label in enumerate(tokens.labels)]
    frame.show(
        tables.row(
            tables.bars(
                f"Weight from “{plain(tokens.labels[-1])}”",
                [(names[each.key], each.weight) for each in found],
                full=1.0,
                digits=2,
            ),
            tables.bars(
                "Change when hidden",
                [(names[each.key], each.change) for each in found],
                full=1.0,
                digits=2,
            ),
        ),
        tables.facts(
            ("most weight", f"{plain(names[heaviest.key])}: change {number(heaviest.change, 2)}"),
            ("most change", f"{plain(names[strongest.key])}: change {number(strongest.change, 2)}"),
        ),
    )


def _same() -> None:
    """Two sets of weights with one output."""
    frame.heading("Other weights, the same output")
    frame.text(*texts.SAME)
    seed = controls.seed(NAME, "Seed of the values and weights")
    import torch

    from models.lessons import head_roles

    chance = torch.Generator().manual_seed(seed)
    values = torch.randn(KEYS, VALUES, generator=chance)
    weights = torch.randn(KEYS, generator=chance).softmax(-1)
    others = head_roles.other_weights(weights, values, seed=seed)
    keys = [f"key {n}" for n in range(KEYS)]
    one, two = (
        tables.bars(title, list(zip(keys, row.tolist(), strict=True)), full=1.0, digits=3)
        for title, row in (("Weights", weights), ("Other weights", others))
    )
    frame.show(
        tables.row(one, two),
        tables.facts(
            ("output of the first", ", ".join(number(v) for v in (weights @ values).tolist())),
            ("output of the second", ", ".join(number(v) for v in (others @ values).tolist())),
            ("weight moved", f"{(weights - others).abs().sum().item() / 2:.1%}"),
        ),
    )


def _decoder(choice: shared.Choice) -> "Decoder":
    from models.decoder import Decoder

    network = shared.opened(choice, "cpu").network
    if not isinstance(network, Decoder):
        raise ValueError(f"expected a decoder, received {choice.model}")
    return network

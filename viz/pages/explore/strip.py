"""The strip above the picture: input, model, examples, and what is to be known of them.

It is as high whatever it says: lists and long notices open over the page.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.request import Reads, Source
from viz.pages.explore import examples, inputs, models, sizes
from viz.pages.explore.names import PAGE
from viz.pages.shared import plain
from viz.pages.state import session

if TYPE_CHECKING:
    from models.model import Model


@dataclass
class Strip:
    """The places of the strip: two rows, of the input and of what is said of it; and the menu."""

    input: DeltaGenerator
    model: DeltaGenerator
    examples: DeltaGenerator
    status: DeltaGenerator
    menu: DeltaGenerator | None = None

    def draw(self, wanted: Source, reads: Reads | None, opened: Source | None) -> None:
        """Draws what is chosen.

        Args:
            wanted: the page's model.
            reads: what it reads; None while that is not known.
            opened: the model of the picture; None before there is one.
        """
        with self.model:
            models.button(opened, examples.follow)
        if reads is None:
            return
        with self.input:
            inputs.row(reads, None if opened is None else models.unlisted(opened))
        with self.examples:
            self.menu = examples.chips(reads)
        with self.status:
            inputs.problems(reads)
            known = models.about(wanted)[2]
            st.caption(f":green[{plain(known)}]" if known.startswith("✓") else plain(known))
            examples.hint()

    def options(self, reads: Reads, model: "Model | None") -> None:
        """Draws what is seldom changed; the sizes of a network built here before it is open."""
        if self.menu is not None:
            with self.menu:
                if model is not None:
                    inputs.options(reads, model)
                sizes.controls()


def place() -> Strip:
    """The empty strip."""
    with st.container(key=f"{PAGE}_strip"):
        title = "presented" if session.app("projector") == "yes" else "title"
        with st.container(key=f"{PAGE}_{title}"):  # for screen readers
            st.markdown("#### Which words does each word look at?")
        names = ("input", "model", "examples", "status")
        input, model, *others = (_place(name, name != "status") for name in names)
        return Strip(input, model, *others)


def _place(name: str, across: bool) -> DeltaGenerator:
    key = f"{PAGE}_{name}"
    align = "center" if across else "top"
    return st.container(key=key, horizontal=across, gap="small", vertical_alignment=align)

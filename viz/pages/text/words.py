"""Whole words instead of tokens, and special tokens out of the way."""

import streamlit as st

from viz.pages.state import params as link
from viz.pages.widgets import controls

WHOLE = {"no": "Tokens", "yes": "Whole words"}
SPECIAL = {"shown": "Shown", "hidden": "Hidden", "renormalised": "Hidden, rows sum to 1"}
PARAMS = (link.choice("words", "no", WHOLE), link.choice("special", "shown", SPECIAL))


def choose(page: str) -> None:
    """The two choices, folded away."""
    with st.popover("Words", key=f"{page}_words_box"):
        help = (
            "Of a word that is several tokens, the weights its tokens receive are summed, and the"
            " weights they give are averaged"
        )
        controls.choice(page, "words", "Show", WHOLE, help)
        help = "[CLS], [SEP] and the like. Hidden: a row sums to what it gives to the others"
        controls.choice(page, "special", "Special tokens", SPECIAL, help)

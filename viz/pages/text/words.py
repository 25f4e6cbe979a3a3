"""Whole words instead of tokens, and special tokens out of the way."""

from viz.pages.state import params as link
from viz.pages.widgets import controls

SPECIAL = {"shown": "Shown", "hidden": "Hidden", "renormalised": "Hidden, rows sum to 1"}
PARAMS = (link.choice("words", "no", ("no", "yes")), link.choice("special", "shown", SPECIAL))


def choose(page: str) -> None:
    """The two choices, for a row of controls."""
    help = (
        "Of a word that is several tokens, the weights its tokens receive are summed, and the"
        " weights they give are averaged"
    )
    controls.toggle(page, "words", "Whole words", help)
    help = "[CLS], [SEP] and the like. Hidden: a row sums to what it gives to the others"
    controls.select(page, "special", "Special tokens", SPECIAL, help, width=150)

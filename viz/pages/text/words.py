"""Controls for whole words and special tokens."""

from viz.pages.state import params as link
from viz.pages.widgets import controls

SPECIAL = {"shown": "Shown", "hidden": "Hidden", "renormalised": "Hidden, rows sum to 1"}
PARAMS = (link.choice("words", "no", ("no", "yes")), link.choice("special", "shown", SPECIAL))


def choose(page: str) -> None:
    """Draws both controls."""
    help = (
        "For a word of several tokens, attention to its tokens is summed and attention from its"
        " tokens is averaged"
    )
    controls.toggle(page, "words", "Whole words", help)
    help = "[CLS], [SEP] and the like. Hidden: rows sum to the weight on the remaining tokens"
    controls.select(page, "special", "Special tokens", SPECIAL, help, width=150)

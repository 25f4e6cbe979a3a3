"""Controls for whole words, whole sentences and special tokens."""

from typing import TYPE_CHECKING, Literal

from viz.pages.state import params as link
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from analysis.view import View
    from models.trace import Trace

By = Literal["no", "yes", "sentences"]
Special = Literal["shown", "hidden", "renormalised"]

BY = {"no": "Tokens", "yes": "Whole words", "sentences": "Sentences"}
SPECIAL = {"shown": "Shown", "hidden": "Hidden", "renormalised": "Hidden, rows sum to 1"}
PARAMS = (link.choice("words", "no", BY), link.choice("special", "shown", SPECIAL))


def choose(page: str) -> None:
    """Draws both controls."""
    help = (
        "Of a word or a sentence of several tokens, attention to its tokens is summed and attention"
        " from its tokens is averaged. Words and sentences are those of Unicode’s rules"
    )
    controls.choice(page, "words", "Between", BY, help)
    help = "[CLS], [SEP] and the like. Hidden: rows sum to the weight on the remaining tokens"
    controls.select(page, "special", "Special tokens", SPECIAL, help, width=150)


def view_of(trace: "Trace", by: By, special: Special) -> "View | None":
    """The view that the controls choose; None where it is the trace itself."""
    from analysis.view import View, joint_layers

    if (by, special) == ("no", "shown") and not joint_layers(trace):
        return None
    return View(trace, by == "yes", special, by == "sentences")

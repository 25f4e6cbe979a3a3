"""The second sentence of models that read two."""

from viz.pages.shared import Choice
from viz.pages.state import session
from viz.pages.widgets import entry

PAIRED = ("minilm",)  # of the catalogue


def second_entry(page: str, choice: Choice) -> None:
    """The entry of the second sentence."""
    if choice.model in PAIRED:
        entry.text(
            page,
            "pair",
            "Second sentence (optional)",
            placeholder="Second sentence (optional)",
            bare=True,
            width=250,
        )


def second(page: str, choice: Choice) -> str:
    """The second sentence; "" if there is none."""
    from models.text import clean

    return clean(session.get(page, "pair"))[0].strip() if choice.model in PAIRED else ""

"""Whole words, and a text as a turn of a chat."""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from models.catalogue import entry, folder
from viz.pages.explore.names import PAGE
from viz.pages.explore.sizes import KINDS
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

PARAMS = (
    replace(link.choice("words", "no", ("no", "yes")), replaced={"sentences": "yes"}),
    link.choice("chat", "no", ("no", "yes")),
)
WORDS = (
    "Of a word of several tokens, attention to its tokens is summed and attention from its tokens"
    " is averaged. Words are those of Unicode’s rules"
)
CHAT = (
    "The text is the user’s turn in the model’s chat template, up to where the model’s answer"
    " begins; the tokens of the template are shown as well"
)


def choose(*, chat: bool) -> None:
    """Draws the controls.

    Args:
        chat: whether the model has a chat template.
    """
    controls.toggle(PAGE, "words", "Whole words", WORDS)
    if chat:
        controls.toggle(PAGE, "chat", "Chat", CHAT)


def whole() -> bool:
    """Whether weights are between whole words."""
    return session.get(PAGE, "words") == "yes"


def chats(model: str, settings: Mapping[str, Any]) -> bool:
    """Whether the text is a turn of a chat of a listed model."""
    return settings.get("chat") == "yes" and has_template(model)


def has_template(model: str) -> bool:
    """Whether a listed model has a chat template, read without its weights."""
    try:
        return model not in KINDS and _has_template(model)
    except (OSError, ValueError):  # opening the model will say what is missing
        return False


@lru_cache(maxsize=32)
def _has_template(model: str) -> bool:
    place = folder(entry(model))
    settings = place / "tokenizer_config.json"
    stated = settings.is_file() and '"chat_template"' in settings.read_text(encoding="utf-8")
    return stated or (place / "chat_template.jinja").is_file()

"""Controls for whole words, whole sentences and special tokens."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from models.catalogue import entry, folder
from models.text import FileTokenizer
from viz.api.tracing import Between, Special
from viz.pages.explore.sizes import KINDS
from viz.pages.shared import plain
from viz.pages.state import params as link
from viz.pages.state import session
from viz.pages.widgets import controls

if TYPE_CHECKING:
    from models.text import Tokenizer

BY = {"no": "Tokens", "yes": "Whole words", "sentences": "Sentences"}
VISIBLE: Special = "shown"
HIDDEN: Special = "hidden"
PARAMS = (
    link.choice("words", "no", BY),
    replace(link.choice("special", VISIBLE, (VISIBLE, HIDDEN)), replaced={"renormalised": HIDDEN}),
    link.retired("sums"),
    link.choice("chat", "no", ("no", "yes")),
)
BETWEEN = (
    "Of a word or a sentence of several tokens, attention to its tokens is summed and attention"
    " from its tokens is averaged. Words and sentences are those of Unicode’s rules"
)
CHAT = (
    "The text is the user’s turn in the model’s chat template, up to where the model’s answer"
    " begins; the tokens of the template are shown as well"
)
BEGIN = "<begin>"  # in front of what a decoder has written
HARMLESS = re.compile(r"(\[[A-Za-z0-9]+\]|[A-Za-z0-9]+)(/(\[[A-Za-z0-9]+\]|[A-Za-z0-9]+))*")
MOST = 24  # characters of names in a label


def choose(page: str, names: Collection[str], *, chat: bool = False) -> None:
    """Draws the controls.

    Args:
        page: of the settings.
        names: of the special tokens the model puts around a text; without any, none can be hidden.
        chat: whether the model has a chat template.
    """
    controls.choice(page, "words", "Between", BY, BETWEEN, collapsed=True)
    if chat:
        controls.toggle(page, "chat", "Chat", CHAT)
    if not names:
        return
    help = "Leaves them out of every picture. Rows then sum to the weight on the remaining tokens"
    controls.toggle(page, "special", f"Hide {_listed(names)}", help, (VISIBLE, HIDDEN))


def chosen(page: str, names: Collection[str]) -> Between:
    """What the weights are between, and what is done with special tokens."""
    settings = session.current(page).settings
    return Between(settings["words"], settings["special"] if names else VISIBLE)


def of_catalogue(model: str) -> tuple[str, ...]:
    """The special tokens around a text of a listed model, read without its weights."""
    try:
        return () if model in KINDS else _of_catalogue(model)
    except ValueError:  # opening the model will say what is missing
        return ()


def chats(model: str, settings: Mapping[str, Any]) -> bool:
    """Whether the text is a turn of a chat of a listed model."""
    return settings.get("chat") == "yes" and has_template(model)


def has_template(model: str) -> bool:
    """Whether a listed model has a chat template, read without its weights."""
    try:
        return model not in KINDS and _has_template(model)
    except (OSError, ValueError):  # as above
        return False


@lru_cache(maxsize=32)
def _has_template(model: str) -> bool:
    place = folder(entry(model))
    settings = place / "tokenizer_config.json"
    stated = settings.is_file() and '"chat_template"' in settings.read_text(encoding="utf-8")
    return stated or (place / "chat_template.jinja").is_file()


@lru_cache(maxsize=32)
def _of_catalogue(model: str) -> tuple[str, ...]:
    """Kept only where they could be read: the model's files may be mended while the app runs."""
    reader = FileTokenizer(folder(entry(model)) / "tokenizer.json", trusted=True)
    return names(reader, target=entry(model).kind == "seq2seq")


def names(reader: "Tokenizer | None", *, target: bool) -> tuple[str, ...]:
    """The special tokens around a text, and the one in front of a target."""
    tokens = None if reader is None else reader.encode("a")
    pairs = zip(tokens.labels, tokens.special, strict=True) if tokens else ()
    return (*(label for label, special in pairs if special), *([BEGIN] if target else []))


def _listed(names: Collection[str]) -> str:
    """The names as they are where markdown has no other reading of them: screen readers say all."""
    listed = "/".join(names)
    if len(listed) > MOST:
        return "special tokens"
    return listed if HARMLESS.fullmatch(listed) else plain(listed)

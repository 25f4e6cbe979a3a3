"""Example texts and pictures of the models, each with a tour.

`examples.json` has them by model: an input, the weight that it opens on, and three or four steps.
A step is read before its button is pressed; the next one says what came of it:

- `text`: what is seen, with at most one number, in percent;
- `button` and `do`: what it is called, and what it does, in order: {"select": what a link calls
  it}, {"input": a text}, {"off": true} (the chosen head, by zero), {"undo": true};
- `choices`: answers to the question of the text, one of them right, each with a reply;
- `number`: for the tests, which walk every tour: the token whose weight in the chosen row is told,
  or the next word whose chance it is.

Models trained for the app bring their own. Tests check every number against its model.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.card import Example
from models.request import Reads
from viz.api.samples import PHOTOS, TITLES, card_of, samples
from viz.pages.explore import edits, files, source
from viz.pages.explore.names import PAGE
from viz.pages.shared import notice, plain
from viz.pages.state import session
from viz.pages.widgets import controls

LISTED = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
EXAMPLES: dict[str, tuple[Example, ...]] = {}
TOURS: dict[str, dict[str, list[Any]]] = {}
for _model, _listed in LISTED.items():
    TOURS[_model] = {each["name"]: each.pop("tour") for each in _listed}
    EXAMPLES[_model] = tuple(Example(**{"kind": "self", **each}) for each in _listed)
CHIPS = 3  # examples beside the menu of all
FIRST = {"layer": 0, "head": 0, "token": 0, "attention": "self", "direction": "out"}


def _sees(model: str) -> bool:
    """Whether a model of the list reads pictures."""
    return source.READS.get(model) == "image"


def texts(model: str) -> tuple[Example, ...]:
    """The example texts of a model of the list."""
    if (card := card_of(model)) is not None:
        return card.examples if source.READS.get(model) == "text" else ()
    return () if _sees(model) else EXAMPLES.get(model, ())


def pictures(model: str) -> Mapping[str, Example | None]:
    """The example pictures of a model of the list; photos for any other."""
    known = {each.input: each for each in EXAMPLES.get(model, ()) if _sees(model)}
    return samples(model) or known or dict.fromkeys(PHOTOS)


def named(photo: str) -> str:
    """Name of one of the example pictures of the page's model."""
    example = pictures(source.listed()).get(photo)
    return TITLES.get(photo, photo) if example is None else example.name


def title() -> str:
    """Name of the page's picture."""
    uploaded = files.own_titles().get(session.get(PAGE, "upload"))
    return named(session.get(PAGE, "photo")) if uploaded is None else uploaded


def first(model: str) -> tuple[str, str, str]:
    """Text, target and picture that a model begins with."""
    example = next(iter(texts(model)), EXAMPLES["minilm"][0])
    return example.input, example.target or "", next(iter(pictures(model)))


def example_in(model: str, settings: Mapping[str, Any]) -> Example | None:
    """The model's example that is the input, if it is one.

    Args:
        model: of the list; "" for any other.
        settings: those in a link, or of now.
    """
    text, _, photo = first(model)
    if _sees(model):
        return None if settings.get("upload") else pictures(model).get(settings.get("photo", photo))
    if settings.get("chat") == "yes":  # in which its tokens stand elsewhere
        return None
    given = settings.get("input", text)
    return next((example for example in texts(model) if example.input == given), None)


def begin(model: str, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """The selection that an input of a model of the list begins with.

    That of an example; None for any other, for which the page chooses what is worth seeing.

    Args:
        model: of the list; "" for any other.
        settings: those in a link, or of now.
    """
    example = example_in(model, settings)
    if _sees(model) and card_of(model) is not None:
        if settings.get("upload"):
            return None
        photo = first(model)[2]
        example = example if settings.get("photo", photo) == photo else None
        return FIRST | (selection_of(model, example) if example else {})
    return None if example is None else FIRST | selection_of(model, example)


def selection_of(model: str, example: Example) -> dict[str, Any]:
    """The selection of the view for an example of a model."""
    place = {"layer": example.layer, "head": example.head, "direction": "out"}
    if _sees(model):
        return {**place, "token": example.query}
    token = None if example.form == "lines" else example.query  # lines cross at every token
    return {**place, "token": token, "attention": example.kind, "form": example.form}


def current() -> Example | None:
    """The example that is the page's input, if it is one."""
    return example_in(source.listed(), session.current(PAGE).settings)


# ---- buttons


def chips(reads: Reads) -> DeltaGenerator:
    """Three examples of the model, and a menu of all and of one's own pictures.

    Returns:
        The menu.
    """
    every = [*_buttons(reads)]
    if every:
        st.caption("Examples", width="content")
    count = 0 if reads.asked else CHIPS  # a question and its answer are two inputs already
    for name, key, chosen, action in every[:count]:
        controls.button(name, key, action, chosen=chosen)
    menu = st.popover("More", key=f"{PAGE}_more_{session.current(PAGE).revision}")
    with menu:
        for number, (name, key, chosen, action) in enumerate(every):
            again = "_in_menu" if number < count else ""
            controls.button(name, key + again, action, chosen=chosen)
        if reads.image:
            files.own_pictures(lambda: show(session.get(PAGE, "photo")))
    return menu


def _buttons(reads: Reads) -> Iterator[tuple[str, str, bool, Callable[[], None]]]:
    """Of a button for each example: name, key, whether it is chosen, and what it does."""
    model, now = source.listed(), current()
    if reads.image:
        chosen = "" if files.PICTURE.file() else session.get(PAGE, "photo")
        for photo in pictures(model):
            key = photo.replace("/", "_").removesuffix(".png")
            yield named(photo), f"{PAGE}_photo_{key}", photo == chosen, partial(show, photo)
    else:
        for number, each in enumerate(texts(model)):
            yield each.name, f"{PAGE}_example_{number}", each == now, partial(take, each)


def take(example: Example) -> None:
    """Sets the input of an example, and selects its head."""
    text = {"input": example.input, "target": example.target or "", "chat": "no"}
    # its tour begins without edits
    session.assign(PAGE, edits.cleared() | text, selection_of(source.listed(), example))


def show(photo: str) -> None:
    """Makes an example the page's picture, and sets its selection."""
    model = source.listed()
    example = pictures(model).get(photo)
    selection = None if example is None else selection_of(model, example)
    session.assign(PAGE, {"photo": photo, "upload": ""}, selection)


def follow() -> None:
    """Called after another model of the list was chosen: shows one of its examples.

    The user's own text or picture stays; only examples of another model are replaced.
    """
    session.fold(PAGE)
    model, text = source.listed(), session.get(PAGE, "input")
    if _sees(model):
        settle()
    ours = [each.input for each in texts(model)]
    foreign = any(text == each.input for other in source.READS for each in texts(other))
    if ours and foreign and text not in ours:
        take(texts(model)[0])


def settle() -> None:
    """Replaces an example picture of another model by one of this model."""
    here = pictures(source.listed())
    if not session.get(PAGE, "upload") and session.get(PAGE, "photo") not in here:
        show(next(iter(here)))


# ---- what is said of them


def hint() -> None:
    """What to look at in the current example; a caveat for a picture of another kind."""
    model, example = source.listed(), current()
    if _sees(model) and session.get(PAGE, "pixels"):
        return  # what is said of an example holds for the size that the checkpoint states
    if example is not None and example.hint:
        st.caption(plain(f"What to look at: {example.hint}"))
    elif _sees(model) and card_of(model) and files.PICTURE.file():
        notice(
            f"{source.TITLES[model]} was trained on pictures like its examples, and on no others:"
            " what it answers to yours is a guess."
        )


def tour() -> list[Any]:
    """The steps for the current example, and for a text that they lead to.

    The first names the text of the example, to go back to; without a tour there are none.
    """
    model, example, text = source.listed(), current(), session.get(PAGE, "input")
    for name, walk in TOURS.get(model, {}).items():
        leads = any(done.get("input") == text for step in walk for done in step.get("do", ()))
        if leads if example is None else name == example.name:
            steps = [{each: step[each] for each in step if each != "number"} for step in walk]
            begins = next((each.input for each in texts(model) if each.name == name), "")
            return [{**steps[0], "input": begins}, *steps[1:]]
    return []

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
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from models.card import Example
from models.request import Reads
from viz.api.samples import PHOTOS, TITLES, card_of, samples
from viz.pages.explore import edits, preprocessing, sizes, source, words
from viz.pages.explore import pictures as strip
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


def texts(model: str) -> tuple[Example, ...]:
    """The example texts of a model of the list; an encoder built here has MiniLM's."""
    card = card_of(model)
    if card is not None:
        return card.examples if source.READS.get(model) == "text" else ()
    read = "minilm" if model == sizes.ENCODER else model
    return () if source.READS.get(read) == "image" else EXAMPLES.get(read, ())


def of_text(model: str, text: str) -> Example | None:
    """The model's example with that text, if it is one."""
    return next((example for example in texts(model) if example.input == text), None)


def pictures(model: str) -> Mapping[str, Example | None]:
    """The example pictures of a model of the list; photos for any other."""
    read = EXAMPLES.get(model, ()) if source.READS.get(model) == "image" else ()
    known = {example.input: example for example in read}
    return samples(model) or known or dict.fromkeys(PHOTOS)


def named(model: str, photo: str) -> str:
    """Name of one of the example pictures of a model."""
    example = pictures(model).get(photo)
    return TITLES.get(photo, photo) if example is None else example.name


def title() -> str:
    """Name of the page's picture."""
    uploads = [*strip.uploads()]
    if strip.has_upload():
        return strip.own_title(uploads.index(session.get(PAGE, "upload")), len(uploads))
    return named(source.listed(), session.get(PAGE, "photo"))


def first(model: str) -> tuple[str, str, str]:
    """Text, target and picture that a model begins with."""
    example = next(iter(texts(model)), EXAMPLES["minilm"][0])
    return example.input, example.target or "", next(iter(pictures(model)))


def begin(model: str, settings: Mapping[str, Any]) -> dict[str, Any] | None:
    """The selection that an input of a model of the list begins with.

    That of an example, also for any text of a built network, whose weights are random; None for any
    other, for which the page chooses what is worth seeing.

    Args:
        model: of the list; "" for any other.
        settings: those in a link, or of now.
    """
    text, _, photo = first(model)
    if source.READS.get(model) == "image":
        trained = card_of(model) is not None or model in sizes.KINDS
        chosen = settings.get("photo", photo)
        example = None if settings.get("upload") else pictures(model).get(chosen)
        if example is not None and (chosen == photo or not trained):
            return FIRST | strip.selection_of(example)
        return FIRST if trained and not settings.get("upload") else None
    example = of_text(model, settings.get("input", text))
    if example is None and model in sizes.KINDS:
        return selection_of(texts(model)[0]) | {"token": None}
    return None if example is None or words.chats(model, settings) else selection_of(example)


def chips(reads: Reads) -> DeltaGenerator:
    """Three examples of the model, and a menu of all and of one's own pictures.

    Returns:
        The menu.
    """
    every: list[tuple[Any, ...]]
    model, now = source.listed(), current_example()
    if reads.image:
        known = pictures(model)
        every, more = strip.buttons(known), strip.own_pictures(known)
    else:
        places = enumerate(texts(model))
        every = [(each.name, f"{PAGE}_example_{n}", each == now, take, each) for n, each in places]
        more = []
    if every:
        st.caption("Examples", width="content")
    count = 0 if reads.asked else CHIPS  # a question and its answer are two inputs already
    for label, key, chosen, *action in every[:count]:
        controls.button(label, key, *action, chosen=chosen)
    menu = st.popover("More", key=f"{PAGE}_more_{session.current(PAGE).revision}")
    with menu:
        for number, (label, key, chosen, *action) in enumerate(every):
            again = "_in_menu" if number < count else ""
            controls.button(label, key + again, *action, chosen=chosen)
        for draw in more:
            draw()
    return menu


def hint() -> None:
    """What to look at in the current example; a caveat for a picture of another kind."""
    model, example = source.listed(), current_example()
    picture = source.READS.get(model) == "image"
    if picture and preprocessing.is_changed():
        return  # what is said of an example holds for the checkpoint's own preprocessing
    if example is not None and example.hint:
        st.caption(plain(f"What to look at: {example.hint}"))
    elif picture and card_of(model) and strip.has_upload():
        notice(
            f"{source.TITLES[model]} was trained on pictures like its examples, and on no others:"
            " what it answers to yours is a guess."
        )


def tour() -> list[Any]:
    """The steps for the current example, and for a text that they lead to."""
    model, example = source.listed(), current_example()
    name = example_of(model, session.get(PAGE, "input")) if example is None else example.name
    text = next((each.input for each in texts(model) if each.name == name), "")
    return steps(model, name, text)


def example_of(model: str, text: str) -> str:
    """The example whose tour changes its text to this one; "" if none does."""
    for name, walk in TOURS.get(model, {}).items():
        if any(done.get("input") == text for step in walk for done in step.get("do", ())):
            return name
    return ""


def steps(model: str, example: str, text: str = "") -> list[Any]:
    """The steps that the browser shows; none of an example without a tour.

    Args:
        model: of the list.
        example: its name.
        text: of the example, to go back to.
    """
    listed = TOURS.get(model, {}).get(example, [])
    without_number = [{name: each[name] for name in each if name != "number"} for each in listed]
    return [{**without_number[0], "input": text}, *without_number[1:]] if without_number else []


def current_example() -> Example | None:
    """The example that is the page's input, if it is one."""
    model = source.listed()
    if source.READS.get(model) == "image":
        uploaded = strip.has_upload()
        return None if uploaded else pictures(model).get(session.get(PAGE, "photo"))
    if model == sizes.ENCODER or words.chats(model, session.current(PAGE).settings):
        return None
    return of_text(model, session.get(PAGE, "input"))


def selection_of(example: Example) -> dict[str, Any]:
    """The selection of the view for an example text."""
    return {
        "layer": example.layer,
        "attention": example.kind,
        "head": example.head,
        "token": None if example.form == "lines" else example.query,  # lines cross at every token
        "direction": "out",
        "form": example.form,
    }


def take(example: Example) -> None:
    """Sets the input of an example, and selects its head."""
    text = {"input": example.input, "target": example.target or "", "chat": "no"}
    settings = edits.cleared() | text  # its tour begins with the model as it is
    if source.listed() == sizes.ENCODER:
        settings["model"] = "minilm"  # the hint refers to trained weights
    session.assign(PAGE, settings, selection_of(example))


def follow() -> None:
    """Called after another model of the list was chosen: shows one of its examples.

    The user's own text or picture stays; only examples of another model are replaced.
    """
    session.fold(PAGE)
    model = source.listed()
    if model in sizes.KINDS:
        session.assign(PAGE, sizes.begin(model))
    if source.READS[model] == "image":
        settle()
    text = session.get(PAGE, "input")
    others = (name for name in source.READS if name != model)
    foreign = any(of_text(other, text) for other in others) and of_text(model, text) is None
    if not foreign or not texts(model):
        return
    if model in sizes.KINDS:
        session.assign(PAGE, {"input": texts(model)[0].input, "target": ""})
    else:
        take(texts(model)[0])


def settle() -> None:
    """Replaces an example picture of another model by one of this model."""
    samples_here = pictures(source.listed())
    if not session.get(PAGE, "upload") and session.get(PAGE, "photo") not in samples_here:
        strip.show(*next(iter(samples_here.items())))

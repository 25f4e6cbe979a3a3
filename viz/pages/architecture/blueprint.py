"""The Architecture page's settings: which networks there are, and what can be changed in each.

Nothing here imports torch: the controls stand before it is loaded.
"""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from models.files.card import Example
from viz.pages import explorer
from viz.pages.architecture.fields import FIELDS, fields, meant, shown
from viz.pages.image import picture
from viz.pages.state import params as link
from viz.pages.widgets import known

PAGE = "architecture"
FIRST = "small"
SENTENCE = "The animal didn't cross the street because it was too tired."
ANSWER = "Das Tier überquerte die Straße nicht, weil es zu müde war."
LOOKS = ("part", "parameters", "flops", "memory")


def params(name: str) -> tuple[link.Param, ...]:
    """The settings of a preset; what is as the preset has it is not in the link."""
    from models.presets import PRESETS

    given, begin = preset_values(name), first_input(name)
    return (
        link.choice("preset", FIRST, PRESETS),
        *(field.param(given[field.name]) for field in fields(PRESETS[name].kind)),
        link.choice("look", "part", LOOKS),
        link.text("part", first_look(name)),
        link.choice("run", "no", ("no", "yes")),
        link.choice("reads", "text", ("text", "ids")),
        link.text("text", begin["text"]),
        link.text("answer", begin["answer"]),
        link.text("ids", "4 5 9 7 6"),
        link.text("answer_ids", "1 8 3 5 4"),
        link.choice("photo", begin["photo"], picture.PICTURES),
        link.sha256("upload"),
        link.choice("fit", "crop", ("crop", "pad", "stretch")),
        link.number("layer", begin["layer"], 0, 99),
        link.choice("attention", begin["attention"], explorer.KINDS),
        link.number_or("head", begin["head"], 99, ("mean", "max")),
        link.number("token", begin["token"], 0, 9999),
        link.choice("direction", "out", ("out", "in")),
        link.choice("scale", "fixed", ("fixed", "own")),
    )


def trained(name: str) -> str:
    """The model of the catalogue whose weights a preset has; "" where they are random."""
    from models.presets import PRESETS

    return PRESETS[name].model


def examples(name: str) -> tuple[Example, ...]:
    """What a trained preset's own model came with."""
    card = known.card(trained(name)) if trained(name) else None
    return () if card is None else card.examples


def first_input(name: str) -> dict[str, Any]:
    """What a preset reads at first, and the head that is shown: a trained one's own example."""
    example = next(iter(examples(name)), None)
    return given_by(name, example)


def given_by(name: str, example: Example | None) -> dict[str, Any]:
    """What the settings say for an example; None stands for a sentence that anything reads."""
    plain = {"text": SENTENCE, "answer": ANSWER, "photo": "flower"}
    if example is None:
        return plain | {"layer": 0, "attention": "self", "head": 0, "token": None}
    shown = {"layer": example.layer, "attention": example.kind, "head": example.head}
    own = f"{trained(name)}/{example.input}"
    if own in picture.SAMPLES:
        return plain | shown | {"token": example.query, "photo": own}
    read = {"text": example.input, "answer": example.target or ""}
    return plain | shown | {"token": example.query} | read


def first_look(name: str) -> str:
    """Path of the part that is shown when none was chosen: where tokens attend."""
    from models.presets import PRESETS

    inside = {"seq2seq": "encoder/blocks/", "smallest": ""}
    return inside.get(PRESETS[name].kind, "blocks/") + "attention/attend"


def preset_values(name: str) -> dict[str, int | str]:
    """What the controls say when a preset is chosen."""
    from models.presets import PRESETS

    preset = PRESETS[name]
    inputs = {"tokens": preset.tokens, "target": preset.target}
    return {field.name: shown(field, inputs | dict(preset.fields)) for field in fields(preset.kind)}


def named_in(query: Mapping[str, str]) -> str:
    """The preset that a link names."""
    from models.presets import PRESETS

    return link.value(link.choice("preset", FIRST, PRESETS), query)


def chosen() -> str:
    """The preset that the page shows, perhaps with changes."""
    return st.session_state[f"{PAGE}_preset"]


def values() -> dict[str, int | str]:
    """What the controls say."""
    from models.presets import PRESETS

    kind = PRESETS[chosen()].kind
    return {field.name: st.session_state[f"{PAGE}_{field.name}"] for field in fields(kind)}


def sizes(said: Mapping[str, int | str]) -> tuple[int, int]:
    """How many tokens go in, and into the decoder of two towers."""
    return int(said.get("tokens", 1)), int(said.get("target", 1))


def title(name: str) -> str:
    """The name of a preset for readers; for one that was changed, what it began as."""
    from models.presets import PRESETS

    changed = values() != preset_values(name) if name == chosen() else False
    return PRESETS[name].title + (", changed" if changed else "")


def possible() -> tuple[str, dict[str, int | str], ValueError | None]:
    """The last settings that were possible, and what is wrong with those of now, if anything is."""
    state, now = st.session_state, (chosen(), values())
    try:
        config(*now)
    except ValueError as error:
        last = state.get(f"{PAGE}_possible")
        if last is None or last[0] != now[0]:
            last = now[0], preset_values(now[0])
        return last[0], last[1], error
    state[f"{PAGE}_possible"] = now
    return now[0], now[1], None


def config(name: str, said: Mapping[str, int | str]) -> Any:
    """The config that the controls stand for, over what the preset says of the rest.

    Raises:
        ValueError: where they do not fit together, or the input does not fit the network.
    """
    from models.cost.count import check_input
    from models.presets import PRESETS, config_of

    preset = PRESETS[name]
    told = dict(preset.fields) | {
        field.of or field.name: meant(field, said[field.name]) for field in FIELDS[preset.kind]
    }
    if told.get("neurons"):
        told["classes"] = None
    made = config_of(preset.kind, told)
    check_input(made, *sizes(said))
    return made

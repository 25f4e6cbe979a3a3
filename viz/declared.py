"""What is declared in Python, as modules of the browser: the app serves them as they are made."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from analysis.methods import METHODS, Method
from viz.selection import OF_VIEWS, Form
from viz.views import FORMS, PICTURED

OVER_PICTURE = "image"  # the form that a picture opens in
NOTE = "Made by viz/declared.py from viz/selection.py, viz/views and analysis/methods.py."
OF_METHOD = ("name", "title", "kind", "of", "shows", "doubt", "formula", "source", "low", "high")


@cache
def modules() -> Mapping[str, str]:
    """The code of each module, by its path in viz."""
    return {"web/core/declared.js": declared(), "web/text/forms.js": painters()}


def declared() -> str:
    """Options, forms and methods."""
    return f"""// {NOTE}

/** @import {{MethodInfo, Options}} from "../types" */

/** @type {{Options}} before anything is chosen */
export const START = {json.dumps({each.name: each.start for each in OF_VIEWS.values()})};

/**
 * Every form of a view or file: the label of its button, what it shows, and whether
 * it covers heads of a layer, all layers together, or every head.
 */
export const FORMS = {json.dumps({form.name: _form(form) for form in FORMS})};

/**
 * The forms that a view is switched between.
 *
 * @type {{Record<"text" | "image", readonly Options["form"][]>}}
 */
export const ON_SCREEN = {json.dumps(_on_screen())};

/** @type {{MethodInfo[]}} the methods for the whole model */
export const METHODS = {json.dumps([*map(_method, METHODS)])};
"""


def painters() -> str:
    """What draws the forms of the picture, by name; a module is imported once it is wanted."""
    entries = "\n".join(
        f'  {form.name}: () => import("../../views/{form.module}/view.js").then('
        f"(view) => view.{_component(form.module)}),"
        for form in FORMS
        if form.module
    )
    return f"""// {NOTE}

/** @type {{Record<string, () => Promise<any>>}} */
export const VIEWS = {{
{entries}
}};
"""


def _form(form: Form) -> Mapping[str, Any]:
    return {name: getattr(form, name) for name in ("label", "title", "covers")}


def _on_screen() -> Mapping[str, Any]:
    """The forms that a view of a text, or of a picture, is switched between."""
    pictured = [form.name for form in FORMS if form.pictured and form.name in PICTURED]
    image = [OVER_PICTURE, *(name for name in pictured if name != OVER_PICTURE)]
    return {"text": [form.name for form in FORMS if form.module], "image": image}


def _method(method: Method) -> Mapping[str, Any]:
    return {name: getattr(method, name) for name in OF_METHOD}


def _component(module: str) -> str:
    """The component of a view's folder."""
    return "".join(part.capitalize() for part in module.split("_"))

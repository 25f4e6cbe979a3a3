"""A button that has the model run once more by the weights that are drawn."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages import shared
from viz.pages.shared import plain

if TYPE_CHECKING:
    from models.run import Model
    from models.verify import Verdict

ROUNDING = {"float32": 1e-4, "bfloat16": 5e-2, "float16": 1e-2}  # of a whole network's output


def button(page: str, id: str, run: "Callable[[], tuple[Model, Any, Any]]") -> None:
    """The button, and below it the result for the trace that is shown.

    Args:
        page: whose keys it uses.
        id: of the trace.
        run: gives the model, and the input and target it was given.
    """
    state, key = st.session_state, f"{page}_verdict"
    asked = st.button(
        "Is this what the model used?",
        key=f"{page}_verify",
        type="tertiary",
        help="Runs the model once more with the values of every attention layer made from the"
        " weights drawn here, and compares its output with the untouched model’s. A model of"
        " transformers is compared with the library’s own eager attention too, map by map",
    )
    if asked:
        with st.spinner("Running the model again …"):
            state[key] = id, _verified(*run())
    if state.get(key, ("", ""))[0] == id:
        st.caption(plain(state[key][1]))


def _verified(model: "Model", given: Any, target: Any) -> str:
    from models.verify import verify

    try:
        with shared.forward_pass(model):
            return worded(verify(model, given, target), next(model.network.parameters()).dtype)
    except ValueError as error:
        return str(error)


def worded(found: "Verdict", dtype: object) -> str:
    """What the further passes showed."""
    share = found.difference / found.largest if found.largest else 0.0
    kind = str(dtype).removeprefix("torch.")
    problems = found.problems(ROUNDING.get(kind, ROUNDING["float32"]))
    close = f"No: they differ: {'; '.join(problems)}" if problems else ""
    sentences = [
        close or f"Yes, up to the rounding of {kind}",
        f"With the values of all {found.sites} attention layers made from these weights"
        f" ({found.rows:,} rows), the output differs from the untouched model’s by at most"
        f" {found.difference:.1e}; its largest number is {found.largest:.3g}, so that is"
        f" {share:.1e} of it",
    ]
    if found.compared:
        sentences.append(
            f"All {found.compared} heads that the library’s own eager attention gives a map for"
            f" differ from it by at most {found.maps:.1e}"
        )
    if found.edited is not None:
        sentences.append(
            "With one head ablated, here and in the library’s attention, the outputs differ by at"
            f" most {found.edited:.1e}"
        )
    return ". ".join(sentences) + "."

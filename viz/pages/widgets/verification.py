"""A button that verifies the weights shown by running the model with them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.pages import compute, shared
from viz.pages.shared import plain

if TYPE_CHECKING:
    from models.run import Model
    from models.verify import Verdict

ROUNDING = {"float32": 1e-4, "bfloat16": 5e-2, "float16": 1e-2}  # of a whole network's output


def button(page: str, id: str, run: "Callable[[], tuple[Model, Any, Any]]") -> None:
    """Draws the button, and below it the result for the current trace.

    Args:
        page: prefix of its widget keys.
        id: of the trace.
        run: returns the model, its input and its target.
    """
    state, key = st.session_state, f"{page}_verdict"
    asked = st.button(
        "Is this what the model used?",
        key=f"{page}_verify",
        type="tertiary",
        help="Runs the model again with the values of every attention layer computed from the"
        " weights shown here, and compares its output with the original model’s. A transformers"
        " model is also compared with the library’s own eager attention, map by map",
    )
    if asked:
        with st.spinner("Running the model again …"):
            state[key] = id, _verified(*run())
    if state.get(key, ("", ""))[0] == id:
        st.caption(plain(state[key][1]))


def _verified(model: "Model", source: Any, target: Any) -> str:
    try:
        with shared.forward_pass(model):
            return worded(
                compute.verify(model, source, target), next(model.network.parameters()).dtype
            )
    except ValueError as error:
        return str(error)


def worded(verdict: "Verdict", dtype: object) -> str:
    """The result of the comparison as sentences."""
    kind = str(dtype).removeprefix("torch.")
    rounding = ROUNDING.get(kind, ROUNDING["float32"])
    problems = verdict.problems(rounding)
    close = f"No: they differ: {'; '.join(problems)}" if problems else ""
    sentences = [close or f"Yes, up to the rounding of {kind}"]
    sentences += (
        _of_one_pass(verdict) if verdict.ambiguous(rounding) else _of_several_passes(verdict)
    )
    if verdict.edited is not None and not verdict.ambiguous(rounding):
        sentences.append(
            "With one head ablated, here and in the library’s attention, the outputs differ by at"
            f" most {verdict.edited:.1e}"
        )
    if verdict.left_out:
        sentences.append(f"Of the checkpoint, it does not use {compute.grouped(verdict.left_out)}")
    return ". ".join(sentences) + "."


def _of_several_passes(verdict: "Verdict") -> list[str]:
    """What holds between passes with different kernels."""
    share = verdict.difference / verdict.largest if verdict.largest else 0.0
    sentences = [
        f"With the values of all {verdict.sites} attention layers computed from these weights"
        f" ({verdict.rows:,} rows), the output differs from the original model’s by at most"
        f" {verdict.difference:.1e}; its largest number is {verdict.largest:.3g}, so the relative"
        f" difference is {share:.1e}"
    ]
    if verdict.compared:
        sentences.append(
            f"All {verdict.compared} heads that the library’s own eager attention gives a map for"
            f" differ from it by at most {verdict.maps:.1e}"
        )
    return sentences


def _of_one_pass(verdict: "Verdict") -> list[str]:
    """What holds within the traced pass, where other passes are no reference."""
    return [
        f"The traced output differs from the original model’s by at most {verdict.traced:.1e},"
        f" and in that pass the values of each of the {verdict.sites} attention layers differ"
        f" from those computed from these weights by at most"
        f" {verdict.values or 0.0:.1e} of the largest",
        "Passes with other kernels are no reference here: their outputs differ by up to"
        f" {max(verdict.difference, verdict.eager or 0.0):.1e} from the original model’s. Either"
        " rounding decides a choice between nearly equal scores (of keys, of experts), or the"
        " library’s own eager and fused attention hide different keys",
    ]

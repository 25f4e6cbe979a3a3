"""Several captions of a picture, for models that compare the two: each one's similarity and map."""

from functools import lru_cache
from typing import TYPE_CHECKING

import streamlit as st

from models.request import TraceRequest
from viz import vision
from viz.api import tracing
from viz.pages import shared
from viz.pages.explore import compute
from viz.pages.explore.names import PAGE
from viz.pages.state import params as link
from viz.pages.widgets import charts, entry

if TYPE_CHECKING:
    from analysis.contrast import Caption

PARAMS = (link.text("captions", ""),)
MOST = 6
ABREAST = 3
HEIGHT = 300  # pixels of a map
LABEL = "Captions to compare, one a line"
SHOWS = (
    "How similar the picture is to each caption, as the model scales it, and which patches speak"
    " for the caption (Chefer et al. 2021, over the vision tower): each map has its own scale."
)
DOUBT = "A map says what raises the similarity to its caption, not what tells two captions apart."


def show(request: TraceRequest) -> None:
    """The captions, the most similar first; nothing for a model that compares no texts."""
    model = tracing.opened(request.model)
    image = tracing.image_of(request)
    if image is None or model.tokenizer is None or not compute.compares(model):
        return
    st.markdown("##### Captions")
    written = entry.text(PAGE, "captions", LABEL, placeholder=LABEL, multiline=True, bare=True)
    texts = tuple(dict.fromkeys(line.strip() for line in written.splitlines() if line.strip()))
    if not texts:
        return
    if len(texts) > MOST:
        shared.notice(f"The first {MOST} captions are compared.")
    try:
        captions = _compared(request, texts[:MOST])
    except ValueError as error:
        shared.error_line(error)
        return
    st.caption(SHOWS)
    ordered = sorted(captions, key=lambda caption: -caption.similarity)
    for start in range(0, len(ordered), ABREAST):
        columns = st.columns(ABREAST)
        for column, caption in zip(columns, ordered[start : start + ABREAST], strict=False):
            with column:
                place = texts.index(caption.text)
                number = f"{caption.similarity:.2f}".replace("-", "−")
                st.markdown(f"**{number}** {shared.plain(caption.text)}")
                title = f"{model.name}: {caption.text}"
                figure = vision.overlay(
                    caption.relevance.numpy(force=True),
                    image,
                    title=title,
                    bar="relevance",
                    signed=False,
                    height=HEIGHT,
                )
                charts.chart(PAGE, figure, f"caption_{place}", f"{title}. {SHOWS}")
    st.caption(DOUBT)


@lru_cache(maxsize=8)
def _compared(request: TraceRequest, texts: tuple[str, ...]) -> "tuple[Caption, ...]":
    model, given, _ = tracing.arguments(request)
    with shared.forward_pass(model):
        return compute.captions(model, given["pixel_values"], texts)

"""Lenses, parts of a logit and blame, in a browser without Streamlit."""

import re
from typing import Any

import pytest
import torch
from playwright.sync_api import Page, expect

from analysis.attribution import logit_attribution
from analysis.lens import logit_lens
from models.decoder import DecoderConfig
from models.encoder import EncoderConfig
from models.run import Trace, load, trace
from tests.browser.explorer_pages import Traced, open_text
from tests.browser.views import Server
from viz.api.entries import TraceEntry

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
SHAPE: dict[str, Any] = {"vocab": 31, "dim": 15, "heads": 3, "depth": 2, "mlp": 7, "seed": 2}
IDS = torch.tensor([[5, 9, 2, 9, 7, 8]])


def opened(page: Page, server: Server, config: Any, form: str) -> Trace:
    """The trace that is shown in this form."""
    model = load(config)
    found = trace(model, IDS, hidden=True)
    source = Traced(TraceEntry(found, opened=lambda: (model, IDS, None)))
    open_text(page, server, source, layer=1, head=2, form=form).is_painted()
    return found


def test_a_token_of_a_lens_is_followed_through_the_layers(page: Page, server: Server) -> None:
    found = opened(page, server, DecoderConfig(**SHAPE), "lens")
    table = page.get_by_role("group", name="Lens by layer and token")
    rows = table.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.last.get_by_role("rowheader")).to_have_text("output")
    layer, token = 1, 3
    cell = rows.nth(layer).locator(".hs-cell").nth(token)
    id = int(logit_lens(found, layer)[token].argmax())
    expect(cell).to_have_text(f"id {id}")
    cell.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".hs-lens .hs-read")).to_contain_text(f"Layer 0, at “9” ({token})")
    page.keyboard.press("Enter")
    states = [logit_lens(found, state)[token] for state in range(3)]
    ranks = [1 + int((logits > logits[id]).sum()) for logits in states]
    expect(table.locator("tbody .hs-cells-rank")).to_have_text([str(rank) for rank in ranks])
    expect(page).to_have_url(re.compile(rf"output={token}\.{id}"))
    expect(cell).to_have_class(re.compile("hs-followed"))


def test_parts_choose_a_head_and_blame_comes_on_request(page: Page, server: Server) -> None:
    t = opened(page, server, DecoderConfig(**SHAPE), "parts")
    id = int(t.output.row(-1).argmax())
    parts = logit_attribution(t, id)
    heads = page.get_by_role("img", name=re.compile("^Attention of every head"))
    expect(heads).to_have_accessible_name(re.compile("Chosen: layer 1 · head 2\\.$"))
    page.get_by_role("button", name=re.compile("^Layer 0, head 1: ")).click()
    expect(heads).to_have_accessible_name(re.compile("Chosen: layer 0 · head 1\\.$"))
    shown = page.locator(".hs-parts .hs-read")
    expect(shown).to_contain_text(f"{parts['layer 0, head 1']:+.1f}".replace("-", "−")[:2])
    total = f"+{float(t.output.row(-1)[id]):.2f}"
    sums = page.locator(".hs-cells-sum")
    expect(sums).to_contain_text(f"Together {total}; the logit of “id {id}” at position 5")
    assert not server.paths("blame")
    page.get_by_role("button", name=re.compile("^What it rests on")).click()
    expect(page.locator(".hs-blame .hs-check")).to_contain_text(
        "As many random edges of the same layers"
    )
    edge = page.locator(".hs-edge").first
    layer, head = re.findall(r"layer (\d+), head (\d+)", edge.inner_text())[0]
    edge.click()
    expect(page.locator(f".headscope[data-site='{layer}'][data-head='{head}']")).to_have_count(1)


def test_forms_that_do_not_apply_are_greyed_with_their_reason(page: Page, server: Server) -> None:
    opened(page, server, EncoderConfig(**SHAPE), "matrix")
    forms = page.get_by_role("group", name="Form of the picture").get_by_role("button")
    expect(forms).to_have_text(["Text", "Lines", "Matrix", "Inside a head"])

"""Heads over a corpus, in the app: from a dot to a head, to its example in Explore."""

import re
from urllib.parse import parse_qs, urlsplit

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import Page, expect

from analysis.corpus.opened import open_corpus
from viz.api import runs

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("console")]
NAME = ".hs-corpus-name"


def rows(run: str, name: str) -> list[dict]:
    return pq.read_table(runs.FINISHED / run / f"{name}.parquet").to_pylist()


def opened(page: Page, url: str, query: str) -> None:
    page.goto(f"{url}/corpus?{query}")
    expect(page.locator(".hs-corpus-sentence")).not_to_be_empty(timeout=60_000)


def query(page: Page) -> dict[str, str]:
    return {name: value for name, (value,) in parse_qs(urlsplit(page.url).query).items()}


def test_a_dot_leads_to_a_head_and_an_example_to_explore(page: Page, app_url: str) -> None:
    opened(page, app_url, "run=induction&layer=0&head=1")
    expect(page.locator(NAME)).to_have_text("Layer 0 · head 1")
    best = max(
        (row for row in rows("induction", "measures") if row["measure"] == "induction"),
        key=lambda row: row["mean"],
    )
    head = rows("induction", "heads")[best["id"]]
    page.get_by_label("Number along x").select_option("Induction")
    page.wait_for_url(re.compile("plot=induction"))
    boxes = [box.bounding_box() or {"x": 0} for box in page.locator(".hs-dot").all()]
    rightmost = max(range(len(boxes)), key=lambda place: boxes[place]["x"])
    page.locator(".hs-dot").nth(rightmost).click()
    expect(page.locator(NAME)).to_have_text(f"Layer {head['layer']} · head {head['head']}")
    said = open_corpus(runs.FINISHED / "induction").heads["sentence"][best["id"]]
    expect(page.locator(".hs-corpus-sentence")).to_have_text(said)
    page.wait_for_url(re.compile(f"layer={head['layer']}.*plot=induction"))
    page.reload()
    expect(page.locator(NAME)).to_have_text(f"Layer {head['layer']} · head {head['head']}")
    link = page.get_by_role("link", name="Open in Explore").first
    wanted = parse_qs(urlsplit(link.get_attribute("href") or "").query)
    link.click()
    shown = page.locator(".headscope[data-painted]:not(.hs-busy)")
    expect(shown).to_have_count(1, timeout=60_000)
    expect(shown).to_have_attribute("data-head", str(head["head"]))
    page.wait_for_url(re.compile(f"token={wanted['token'][0]}"))
    now = query(page)
    assert {name: now[name] for name in ("model", "input", "token")} == {
        name: wanted[name][0] for name in ("model", "input", "token")
    }


def test_kinds_filter_the_heads(page: Page, app_url: str) -> None:
    opened(page, app_url, "run=dates")
    table = page.locator(".hs-heads-table tbody tr")
    heads = rows("dates", "heads")
    kinds = {kind: [h for h in heads if h["kind"] == kind] for kind in ("self", "cross")}
    expect(table).to_have_count(len(kinds["self"]))
    kind = page.get_by_role("combobox", name="Kind of attention")
    kind.select_option("decoder: cross")
    expect(table).to_have_count(len(kinds["cross"]))
    expect(page.locator(NAME)).to_contain_text("cross")


def test_a_run_is_started_and_opened_on_the_page(page: Page, app_url: str) -> None:
    opened(page, app_url, "run=induction&reader=grammar&sentences=40")
    page.get_by_text("Read a corpus").click()
    page.get_by_role("button", name="Start", exact=True).click()
    about = page.locator(".hs-sentence").first
    expect(about).to_contain_text("Grammar, masked words over 40 texts", timeout=120_000)
    expect(page.locator(".hs-run")).to_have_count(0)
    page.wait_for_url(re.compile("run=mine"))
    page.reload()
    expect(about).to_contain_text("Grammar, masked words over 40 texts", timeout=60_000)


def test_two_runs_are_compared_and_a_change_is_opened(page: Page, app_url: str) -> None:
    opened(page, app_url, "run=smollm2&against=smollm2-repeated")
    expect(page.locator(NAME)).to_have_text("Layer 18 · head 6")  # its induction changes most
    changes = page.locator(".hs-changes tbody tr")
    expect(changes.first).to_contain_text("layer 18 · head 6")
    row = changes.filter(has_text="Punctuation").first
    name = row.get_by_role("button").inner_text()
    row.get_by_role("button").click()
    expect(page.locator(NAME)).to_have_text(name.capitalize())
    page.wait_for_url(re.compile(r"plot=punctuation\.punctuation"))
    expect(page.get_by_text("The same head in B")).to_be_visible()

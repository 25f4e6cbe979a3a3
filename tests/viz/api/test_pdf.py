"""The route that makes a PDF of a figure: what it gives, and what it refuses."""

from concurrent.futures import ThreadPoolExecutor

import pypdfium2
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from viz import __version__
from viz.api import pdf

TEXTS = ["<b>bold</b>", "ab &amp;lt;", "q", "שלום", "日本語", "naïve ∑ −0.5"]
DRAWN = ["<b>bold</b>", "ab &lt;", "q", "שלום", "日本語", "naïve ∑ −0.5"]


def svg(inside: str = "") -> bytes:
    words = "".join(
        f'<text x="200" y="{40 + 20 * i}" text-anchor="middle">{text.replace("<", "&lt;")}</text>'
        for i, text in enumerate(TEXTS)
    )
    head = "<title>A figure &lt;1&gt;</title><desc>What it shows.</desc>"
    shape = '<rect x="9" y="9" width="30" height="20" rx="4" fill="#4a4fc9" opacity="0.4"/>'
    size = 'width="400" height="200" viewBox="0 0 400 200"'
    space = "http://www.w3.org/2000/svg"
    return f'<svg xmlns="{space}" {size}>{head}{shape}{words}{inside}</svg>'.encode()


@pytest.fixture
def client() -> TestClient:
    app = Starlette(routes=[pdf.route(lambda: ["127.0.0.1"])])
    return TestClient(app, base_url="http://127.0.0.1:8501")


def test_the_words_of_a_figure_are_text_on_its_page(client: TestClient) -> None:
    answer = client.post(pdf.PATH, content=svg())
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.headers["cache-control"] == "no-store"
    document = pypdfium2.PdfDocument(answer.content)
    assert len(document) == 1
    assert document[0].get_size() == (300, 150)
    found = document[0].get_textpage().get_text_range().split("\r\n")
    missing = [text for text in DRAWN if text not in found and text[::-1] not in found]
    assert missing in ([], ["日本語"])  # where no font has them: their code points
    metadata = {name: document.get_metadata_value(name) for name in ("Title", "Subject", "Creator")}
    assert metadata == {
        "Title": "A figure <1>",
        "Subject": "What it shows.",
        "Creator": f"Headscope {__version__}",
    }


def test_made_twice_it_is_the_same_to_the_byte(client: TestClient) -> None:
    first, second = (client.post(pdf.PATH, content=svg()).content for _ in range(2))
    assert first == second
    assert b"/FontFile2" in first


def test_several_at_once_are_all_made(client: TestClient) -> None:
    with client, ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: client.post(pdf.PATH, content=svg()), range(6)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "the file is empty"),
        (b"x" * (pdf.MOST * 2**20 + 1), "expected a file of at most 1 MB"),
        (b"hello", "expected an SVG, well-formed"),
        (svg("<script>alert(1)</script>"), "received <script>"),
        (svg("<rect fill='red'/>"), "expected #rrggbb or none as fill"),
        (b"<!DOCTYPE svg>" + svg(), "expected an SVG without declarations and comments"),
    ],
)
def test_anything_else_gets_one_clear_line(client: TestClient, data: bytes, words: str) -> None:
    answer = client.post(pdf.PATH, content=data)
    assert answer.status_code == 400
    assert words in answer.text
    assert answer.headers["content-type"].startswith("text/plain")
    assert len(answer.text.splitlines()) == 1


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}],
)
def test_another_site_gets_nothing(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post(pdf.PATH, content=svg(), headers=headers).status_code == 403
    assert client.get(pdf.PATH).status_code == 405

"""The browser benchmark: its sums and tables by hand."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from benchmarks import browser, reference_pages, servers, visits
from benchmarks.chrome import Traffic, kind_of, payload_size
from benchmarks.measure import Spread
from models.catalogue import entry, folder
from models.text import FileTokenizer

CASES = visits.CASES
HOST = "http://127.0.0.1:8501"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "Streamlit's files"),
        ("/text?input=a.b", "Streamlit's files"),
        ("/static/js/index.js", "Streamlit's files"),
        ("/_stcore/bidi-components/headscope-views.view/streamlit/main.js", "our files"),
        ("/assets/0123456789abcdef/text/text.js", "our files"),
        ("/api/trace/x/map?site=0&head=3", "API"),
        ("/bytes?side=512", "API"),
        ("/_stcore/health", "other HTTP"),
        ("/media/icon.svg", "other HTTP"),
    ],
)
def test_whose_file_it_is(path: str, kind: str) -> None:
    assert kind_of(HOST + path) == kind


@pytest.mark.parametrize(
    ("opcode", "data", "size"), [(1, "é", 2), (2, "AAAA", 3), (2, "AAA=", 2), (2, "AA==", 1)]
)
def test_the_size_of_a_frame(opcode: int, data: str, size: int) -> None:
    assert payload_size({"opcode": opcode, "payloadData": data}) == size


def test_bytes_are_summed_by_kind_and_time() -> None:
    traffic = Traffic(events=[(1.0, "in", 5), (2.0, "in", 7), (3.0, "out", 11), (4.0, "in", 13)])
    assert traffic.sums(end=2.0) == {"in": 12}
    assert traffic.sums(2.0) == {"in": 13, "out": 11}


Found = dict[str, list[list[Any]]]


def change(ms: float, *, handler: float = 1.0, fetched: bool = False) -> dict[str, object]:
    return {"ms": ms, "handler": handler, "fetched": fetched}


def test_a_lost_change_is_counted_and_not_averaged() -> None:
    found: Found = {
        case.name: [[change(20), change(22)], [change(30), change(30)]] for case in CASES
    }
    found[visits.FETCHED] = [[change(10), change(10)], [change(20), change(20)]]
    ours = next(case.name for case in CASES if case.bare == visits.FETCHED)
    found[ours] = [[None, change(30)], [change(30), change(30, fetched=True)]]
    result = browser.compared(found)
    assert (result[ours]["lost"], result[ours]["fetched"], result[ours]["ms"].count) == (1, 1, 3)
    assert result[ours]["times the bare canvas"].median == pytest.approx((3.0 + 1.5) / 2)
    assert result[visits.FETCHED]["times the bare canvas"].median == 1
    assert "30/30 (2.25), 1 LOST" in browser._control_table({512: result})


def test_a_slow_handler_is_told() -> None:
    found: Found = {case.name: [[change(20, handler=9)]] for case in CASES}
    assert "9.0, MISSED" in browser._control_table({32: browser.compared(found)})
    found: Found = {case.name: [[change(20, handler=3)]] for case in CASES}
    assert "3.0, met" in browser._control_table({32: browser.compared(found)})


def test_lines_have_aims_at_two_lengths() -> None:
    found: Found = {case.name: [[change(40)]] for case in CASES}
    told = browser._control_table({tokens: browser.compared(found) for tokens in (32, 128, 512)})
    assert "lines at 128 tokens painted within 33 ms at p95: 40, MISSED" in told
    assert "lines at 512 tokens painted within 50 ms at p95: 40, met" in told
    assert "lines at 32" not in told


def test_running_the_model_has_aims_of_its_own() -> None:
    found: Found = {case.name: [[change(150)]] for case in CASES}
    told = browser._control_table({tokens: browser.compared(found) for tokens in (16, 512)})
    assert "another network: seed at 512 tokens within 120/180 ms: 150/150, MISSED" in told
    assert "a character typed at 16 tokens within 200 ms: 150/150, met" in told
    assert "seed at 16" not in told
    assert "typed at 512" not in told


def test_a_control_that_does_nothing_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="no picture followed"):
        browser.compared({visits.FETCHED: [[change(1.0)]], "stuck": [[None]]})


def test_the_start_table_says_what_was_met() -> None:
    seconds = {"one-line page: text": 1.0, "ours: text": 1.2, "ours, over the one-line page": 0.2}
    start = {name: Spread.of([value]) for name, value in seconds.items()}
    shown = browser._start_table({**start, "ours: picture": Spread.of([5.0])})
    assert "text at most 0.3 s after the one-line page: met" in shown
    assert "picture within 4 s: MISSED" in shown


def test_data_of_the_largest_view_are_weighed_without_files() -> None:
    assert "met" in browser._largest({"API": 1 << 20, "our files": 1 << 20})
    assert "MISSED" in browser._largest({"API": 1 << 20, "websocket in": 2048})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_address_asks_for_that_many_tokens(case: visits.Case) -> None:
    query = parse_qs(urlsplit(case.url({"app": HOST, "canvas": HOST}, 17)).query)
    if not case.bare:
        assert query["side"] == ["17"]
        assert ("kept" in query) is not case.fetched
    else:
        special = 2 if case.model == "minilm" else 0
        assert len(query["input"][0].split()) + special == 17


def test_no_visit_runs_what_another_has_run() -> None:
    typing = next(case for case in CASES if case.typed)
    urls = [typing.url({"app": HOST}, 16, visit) for visit in range(9)]
    assert len({parse_qs(urlsplit(url).query)["input"][0] for url in urls}) == 9
    network = next(case for case in CASES if case.name == visits.NETWORK)
    seeds = [network.url({"app": HOST}, 16, visit) for visit in (0, 1, 7)]
    assert [parse_qs(urlsplit(url).query)["seed"] for url in seeds] == [["0"], ["10"], ["70"]]


def test_typing_leaves_the_number_of_tokens() -> None:
    reader = FileTokenizer(folder(entry("minilm")) / "tokenizer.json")
    counts = {len(reader.encode(visits.TYPED[:end])) for end in range(1, len(visits.TYPED) + 1)}
    assert counts == {3}  # [CLS], the word and [SEP]
    assert len(visits.TYPED) - 1 == visits.WARM_UPS + visits.CHANGES_A_VISIT


def test_the_reference_pages_have_the_apps_settings(tmp_path: Path) -> None:
    reference_pages.write(tmp_path)
    settings = (tmp_path / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    assert "postScriptGC = false" in settings
    for name in ("hello.py", "canvas.py"):
        compile((tmp_path / name).read_text(encoding="utf-8"), name, "exec")


def test_no_browser_is_one_clear_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("installed_browser", "playwright_browser"):
        monkeypatch.setattr(f"benchmarks.chrome.{name}", lambda: None)
    assert browser.main([]) == 1
    assert capsys.readouterr().err.startswith("benchmarks.browser: no Chromium found")


def test_a_server_that_dies_says_why(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise SystemExit('out of order')", encoding="utf-8")
    command, port = [servers.sys.executable, "broken.py"], servers.free_port()
    with (
        pytest.raises(RuntimeError, match="out of order"),
        servers.running(command, tmp_path, port),
    ):
        pass

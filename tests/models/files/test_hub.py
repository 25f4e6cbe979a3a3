"""Models of the hub: what is cached, and fetching from a server that speaks the hub's protocol."""

import json
import os
import re
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch
import transformers

from models.files import hub
from models.files.errors import FetchCancelledError, FetchError
from models.run import load, trace
from tests.models.architectures import TEXT

SHA = "0123456789abcdef0123456789abcdef01234567"
NAME = "someone/small-bert"


class Hub(BaseHTTPRequestHandler):
    """The two requests that fetching a model takes: what there is, and a file of it."""

    files: dict[str, bytes]
    asked: list[str]

    def do_GET(self) -> None:
        self._answer(send=True)

    def do_HEAD(self) -> None:
        self._answer(send=False)

    def _answer(self, *, send: bool) -> None:
        path = self.path.partition("?")[0]
        self.asked.append(f"{self.command} {path}")
        if path == f"/api/models/{NAME}/tree/{SHA}":
            body = json.dumps(self._tree()).encode()
            self._send(body, send, {"Content-Type": "application/json"})
            return
        file = re.fullmatch(rf"/{NAME}/resolve/{SHA}/(.+)", path)
        if path.startswith(f"/api/models/{NAME}"):
            self._send(
                json.dumps(self._card()).encode(), send, {"Content-Type": "application/json"}
            )
        elif file and file[1] in self.files:
            body = self.files[file[1]]
            tag = sha256(body).hexdigest()
            self._send(body, send, {"ETag": f'"{tag}"', "X-Repo-Commit": SHA})
        else:
            codes = {"gated": "GatedRepo", "broken": None}
            kind = next((code for word, code in codes.items() if word in path), "RepoNotFound")
            self.send_response({"GatedRepo": 403, None: 500}.get(kind, 404))
            if kind:
                self.send_header("X-Error-Code", kind)
            self.send_header("Content-Length", "0")
            self.end_headers()

    def _card(self) -> dict[str, Any]:
        parts = [{"rfilename": name, "size": len(body)} for name, body in self.files.items()]
        card = {"license": "apache-2.0"}
        return {"id": NAME, "modelId": NAME, "sha": SHA, "siblings": parts, "cardData": card}

    def _tree(self) -> list[dict[str, Any]]:
        return [
            {"type": "file", "path": name, "size": len(body), "oid": sha256(body).hexdigest()[:40]}
            for name, body in self.files.items()
        ]

    def _send(self, body: bytes, send: bool, headers: dict[str, str]) -> None:
        self.send_response(200)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if send:
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def files(tmp_path: Path) -> dict[str, bytes]:
    path = tmp_path / "saved"
    transformers.BertModel(transformers.BertConfig(**TEXT)).save_pretrained(path)
    found = {file.name: file.read_bytes() for file in path.iterdir()}
    return {**found, "README.md": b"# Small", "photo.png": bytes(999), "evil.py": b"exit()"}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))


def use(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the hub at another address."""
    path = "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", endpoint)
    monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", endpoint + path)


@pytest.fixture
def server(files: dict[str, bytes], cache: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    handler = type("Handler", (Hub,), {"files": files, "asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        use(f"http://127.0.0.1:{running.server_port}", monkeypatch)
        yield
        running.shutdown()
        thread.join()


def test_the_size_comes_first(server: None, files: dict[str, bytes]) -> None:
    plan = hub.plan_download(NAME)
    assert {name for name, _ in plan.files} == {"config.json", "README.md", "model.safetensors"}
    assert plan.size == sum(len(files[name]) for name, _ in plan.files)
    assert (plan.revision, plan.licence) == (SHA, "apache-2.0")
    assert hub.cached_models() == ()


def test_a_download_and_what_opens_from_it(server: None, files: dict[str, bytes]) -> None:
    told: list[tuple[int, int]] = []
    plan = hub.plan_download(NAME)
    folder = hub.download(plan, progress=lambda *now: told.append(now))
    assert told[0] == (0, plan.size)
    assert told[-1] == (plan.size, plan.size)
    assert told == sorted(told)
    for name, _ in plan.files:
        assert (folder.path / name).read_bytes() == files[name]
    assert not (folder.path / "evil.py").exists()
    (found,) = hub.cached_models()
    assert (found.name, found.size) == (NAME, plan.size)
    model = load(NAME, door="transformers")  # its files are links into the cache's own store
    assert model.name == NAME
    assert trace(model, torch.tensor([[3, 4, 5]])).weights(0).shape == (3, 3, 3)


def test_load_fetches_what_is_not_here(server: None, capsys: pytest.CaptureFixture[str]) -> None:
    model = load(NAME, door="transformers")
    assert model.name == NAME
    said = capsys.readouterr().err
    assert NAME in said
    assert "100%" in said
    with pytest.raises(
        FetchError, match="'someone/else' is not a local folder, and someone/else is not"
    ):
        load("someone/else")


def test_a_download_that_is_stopped(server: None) -> None:
    plan = hub.plan_download(NAME)

    def stopped(come: int, total: int) -> None:
        if come:
            raise FetchCancelledError(f"stopped after {come} of {total}")

    with pytest.raises(FetchCancelledError, match="stopped after"):
        hub.download(plan, progress=stopped)
    assert hub.cached_folder(NAME) is None
    hub.download(plan)
    assert hub.cached_folder(NAME) is not None


def test_no_network(cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    use("http://127.0.0.1:9", monkeypatch)
    with pytest.raises(FetchError, match="small-bert is not here, and the hub cannot be reached"):
        hub.plan_download(NAME)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(FetchError, match=r"is not a local folder, .* the hub cannot be reached"):
        load(NAME)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("someone/else", "is not on the hub"),
        ("someone/gated", "is gated: accept its terms"),
        ("someone/broken", "the hub answers with an error"),
        ("../../etc", "is no model id"),
        ("a b", "is no model id"),
    ],
)
def test_what_cannot_be_had(server: None, name: str, message: str) -> None:
    with pytest.raises(FetchError, match=message):
        hub.plan_download(name)


def test_which_weights_are_fetched(server: None, files: dict[str, bytes]) -> None:
    """Every shard and their index, of safetensors where there are some; else there is no plan."""
    shards = [f"model-0000{i}-of-00003.safetensors" for i in (1, 2, 3)]
    old, config = ["pytorch_model.bin", "tf_model.h5"], files["config.json"]
    index = "model.safetensors.index.json"
    for names, taken in ((old, old[:1]), ([index, *shards, *old, "x.bin"], [index, *shards])):
        files.clear()
        files.update({"config.json": config, **dict.fromkeys(names, b"12")})
        assert [name for name, _ in hub.plan_download(NAME).files] == ["config.json", *taken]
    files.clear()
    with pytest.raises(FetchError, match="has no weights that can be opened"):
        hub.plan_download(NAME)


def test_the_revision_of_main_comes_before_a_later_one(cache: None, tmp_path: Path) -> None:
    repo = tmp_path / "cache" / "models--someone--small-bert"
    for time, commit in enumerate((SHA, "f" * 40), 1):
        snapshot = repo / "snapshots" / commit
        snapshot.mkdir(parents=True)
        for name in ("config.json", "model.safetensors"):
            (snapshot / name).write_bytes(b"{}")
            os.utime(snapshot / name, (time * 1e9, time * 1e9))
    (found,) = hub.cached_models()
    assert found.folder.path.name == "f" * 40  # there is no main
    (repo / "refs").mkdir()
    (repo / "refs" / "main").write_text(SHA)
    (found,) = hub.cached_models()
    assert found.folder.path.name == SHA


def test_a_cache_of_odds_and_ends(cache: None, tmp_path: Path) -> None:
    for name in ("models--someone--empty", f"models--someone--half/snapshots/{SHA}", "datasets--a"):
        (tmp_path / "cache" / name).mkdir(parents=True)
    assert hub.cached_models() == ()
    assert hub.cached_folder("someone/half") is hub.cached_folder("../../x") is None

"""Pictures on the page: what it shows for good and for bad ones, without a browser."""

import hashlib
import struct
import zlib

import pytest

from models.free_memory import SHARE
from models.vit import ViTConfig
from tests.viz.pages import helpers
from tests.viz.pages.explore.explorer import (
    SMALL,
    captions,
    drop,
    file_of,
    forget,
    opened,
    press,
    shown,
    small,
    view,
)
from viz.build.shapes import peak_memory


def bomb():
    """A header that promises 30,000 × 30,000 pixels, and no more than the start of them."""
    parts = b"\x89PNG\r\n\x1a\n"
    head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(1000)))):
        check = struct.pack(">I", zlib.crc32(kind + data))
        parts += struct.pack(">I", len(data)) + kind + data + check
    return parts


def chip(app):
    """The name of the picture in the strip."""
    (props,) = helpers.views(app, "files")
    return props["label"]


# --- what it costs --------------------------------------------------------------------------------


def test_a_network_too_large_for_the_machine_is_refused(monkeypatch):
    room = peak_memory(ViTConfig(image=48, patch=8, heads=2, dim=16, depth=2, mlp=64)) / SHARE
    monkeypatch.setattr("viz.pages.compute.available_memory", lambda device="cpu": int(room) + 8)
    sized = {**SMALL, "patch": "8"}
    app = opened(**sized)
    (line,) = helpers.lines(app)
    assert "needs about" in line
    assert "make it smaller" in line
    assert not helpers.views(app, "image")
    app = opened(**sized | {"size": "48"})
    assert helpers.lines(app) == []
    assert helpers.views(app, "image")


# --- pictures -------------------------------------------------------------------------------------


def test_a_dropped_picture_is_shown_and_stands_in_the_link_by_its_hash():
    data, name = file_of("JPEG", mode="CMYK"), "print.jpg"
    app = drop(small(), data, name)
    digest = hashlib.sha256(data).hexdigest()
    assert helpers.lines(app) == []
    assert helpers.link(app)["upload"] == digest
    assert chip(app) == "Your picture"
    assert shown(app).size == (64, 64)
    assert "60 × 40" in captions(app)
    reloaded = small(upload=digest)
    assert helpers.lines(reloaded) == []
    assert view(reloaded)["trace"] == view(app)["trace"]
    assert chip(reloaded) == "Your picture"
    forget()
    again = small(upload=digest)
    assert sum("upload the same file" in line for line in helpers.lines(again)) == 1
    assert len(helpers.views(again, "image")) == 1
    assert chip(again) == "A flower"
    drop(again, data, name)
    assert helpers.lines(again) == []
    assert view(again)["trace"] == view(app)["trace"]


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (file_of()[:90], "cut.png", "damaged"),
        (b"", "nothing.png", "0 bytes"),
        (file_of(size=(1, 1)), "dot.png", "too small"),
        (file_of(size=(20_000, 2)), "wide.png", "too large"),
        (bomb(), "bomb.png", "too large"),
        (b"just a text", "text.png", "no image"),
        (b"<svg xmlns='x'></svg>", "drawing.svg", "SVG"),
    ],
)
def test_a_bad_picture_is_one_line_and_nothing_is_lost(data, name, says):
    app = small(photo="china", layer="1", token="5")
    before = view(app)
    drop(app, data, name)
    assert len(helpers.lines(app)) == 1
    assert says in helpers.lines(app)[0]
    assert "still shown" in helpers.lines(app)[0]
    assert view(app) == before
    assert before["link"]["photo"] == "china"
    drop(app, file_of())
    assert helpers.lines(app) == []
    press(app, "photo_flower")
    assert "upload" not in helpers.link(app)


# --- the view -------------------------------------------------------------------------------------


def test_what_the_browser_reports_of_an_upload_is_checked():
    """Its refusals are one line each; nonsense, and a file that is not held, change nothing."""
    app = helpers.upload(small(), "explore_upload", {}, {"large.png": "this file has 70 MB"})
    assert helpers.lines(app) == ["this file has 70 MB. The previous picture is still shown."]
    helpers.upload(app, "explore_upload", {"mine.png": file_of()}, {"a *b*": "not <b>this</b>"})
    assert helpers.lines(app) == ["a *b*: not <b>this</b>."]
    upload = helpers.link(app)["upload"]
    for value in (7, {"id": "x"}, {"id": "y", "sent": "no", "refused": [1, {"name": 2}]}):
        app.session_state["explore_upload_files"] = {"files": value}
        helpers.checked(app.run())
        assert helpers.link(app)["upload"] == upload
    gone = {"id": "z", "sent": [{"name": "gone.png", "digest": "0" * 64}], "refused": []}
    app.session_state["explore_upload_files"] = {"files": gone}
    helpers.checked(app.run())
    assert helpers.lines(app) == [
        "the server holds at most 256 MB of files: upload fewer at once. The previous picture is"
        " still shown."
    ]
    assert helpers.link(app)["upload"] == upload

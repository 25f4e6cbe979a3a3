"""The Image page: what it shows for good and for bad pictures, without a browser."""

import hashlib
import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from streamlit.testing.v1 import AppTest

import start
from viz.pack import unpack
from viz.pages.image import memory, painter, picture

SCRIPT = str(start.ROOT / "viz/pages/image/page.py")
SMALL = {"size": "64", "heads": "2", "dim": "16", "depth": "2"}


def run(**query):
    app = AppTest.from_file(SCRIPT, default_timeout=60)
    for name, value in (SMALL | query).items():
        app.query_params[name] = value
    return checked(app.run())


def checked(app):
    assert not app.exception, [element.message for element in app.exception]
    return app


def blobs(app):
    return [unpack(element.proto.bytes) for element in app.get("bidi_component")]


def literal(markdown):
    return markdown.replace("\\", "").replace("\u200b", "")


def lines(app):
    return [literal(element.value) for element in (*app.error, *app.info)]


def told(app):
    return " ".join(literal(element.value) for element in app.caption)


def file_of(kind="PNG", size=(60, 40), mode="RGB", **options):
    file = io.BytesIO()
    down, right = np.mgrid[0 : size[1], 0 : size[0]]
    pixels = np.stack([right * 4, down * 6, right + down], -1).astype(np.uint8)
    Image.fromarray(pixels).convert(mode).save(file, kind, **options)
    return file.getvalue()


def halves(left, right):
    """40 × 40 grey pixels."""
    return np.repeat(np.repeat([[left, right]], 20, 1), 40, 0)


def deep():
    """16 bits a pixel."""
    file = io.BytesIO()
    Image.fromarray(halves(0, 65_535).astype(np.uint16)).save(file, "PNG")
    return file.getvalue()


def moving(kind):
    """Three frames; the first is black on the left, white on the right."""
    file = io.BytesIO()
    first, *more = (
        Image.fromarray(halves(*ends).astype(np.uint8)) for ends in ((0, 255), (255, 0), (99, 99))
    )
    first.save(file, kind, save_all=True, append_images=more)
    return file.getvalue()


def bomb():
    """A header that promises 30,000 × 30,000 pixels, and no more than the start of them."""
    parts = b"\x89PNG\r\n\x1a\n"
    head = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(bytes(1000)))):
        check = struct.pack(">I", zlib.crc32(kind + data))
        parts += struct.pack(">I", len(data)) + kind + data + check
    return parts


def drop(app, data, name="mine.png"):
    return checked(app.file_uploader[0].upload(name, data).run())


def shown(app):
    """The picture the browser is sent."""
    header, area = blobs(app)[0]
    part = header["picture"]
    return Image.open(io.BytesIO(area[part["at"] : part["at"] + part["size"]]))


def test_the_first_screen_is_a_photo_cut_into_patches():
    app = checked(AppTest.from_file(SCRIPT, default_timeout=60).run())
    ((header, _),) = blobs(app)
    base = header["base"]
    assert (base["grid"], base["prefix"], base["patch"]) == ([14, 14], 1, [16, 16])
    assert base["note"] == "untrained: random weights"
    assert base["query_labels"][:2] == ["class", "patch 0,0"]
    assert [step["shape"] for step in base["shapes"]] == [
        *("3 × 224 × 224", "14 × 14", "196 × 768", "196 × 192", "197 × 192")
    ]
    assert shown(app).size == (224, 224)
    assert dict(app.query_params) == {}
    assert lines(app) == []
    assert "from 640 × 427 pixels" in told(app)


def test_every_control_moves_something():
    seen = set()
    app = run()
    for change in (
        lambda: app.button("image_photo_china").click(),
        lambda: app.button_group("image_fit").set_value("pad"),
        lambda: app.slider("image_size").set_value(96),
        lambda: app.selectbox("image_patch").set_value(8),
        lambda: app.slider("image_heads").set_value(4),
        lambda: app.slider("image_dim").set_value(32),
        lambda: app.slider("image_depth").set_value(3),
        lambda: app.selectbox("image_positions").set_value("sincos2d"),
        lambda: app.slider("image_registers").set_value(2),
        lambda: app.number_input("image_seed").set_value(7),
        lambda: app.selectbox("image_order").set_value("c p1 p2"),
    ):
        checked(change().run())
        ((header, _),) = blobs(app)
        seen.add(header["trace"])
        assert lines(app) == []
    assert len(seen) == 11
    base = header["base"]
    assert (base["grid"], base["prefix"], base["order"]) == ([12, 12], 3, "c p1 p2")
    assert [(site["heads"], site["keys"]) for site in base["sites"]] == [(4, 147)] * 3
    assert dict(app.query_params) == {
        "photo": "china",
        "fit": "pad",
        "size": "96",
        "patch": "8",
        "heads": "4",
        "dim": "32",
        "depth": "3",
        "positions": "sincos2d",
        "registers": "2",
        "seed": "7",
        "order": "c p1 p2",
    }


@pytest.mark.parametrize("positions", painter.POSITIONS)
@pytest.mark.parametrize("order", painter.ORDERS)
def test_what_the_controls_offer_can_be_built(positions, order):
    assert lines(run(positions=positions, order=order)) == []


@pytest.mark.parametrize(
    ("data", "name"),
    [
        *((file_of(kind), f"a.{kind.lower()}") for kind in ("PNG", "JPEG", "WEBP", "GIF", "BMP")),
        (file_of(mode="P"), "palette.png"),
        (file_of("JPEG", mode="CMYK"), "print.jpg"),
        (file_of(mode="LA"), "seen through.png"),
    ],
)
def test_a_dropped_picture_is_shown_and_stands_in_the_link_by_its_hash(data, name):
    app = drop(run(), data, name)
    assert lines(app) == []
    assert dict(app.query_params)["upload"] == hashlib.sha256(data).hexdigest()
    assert shown(app).size == (64, 64)
    assert "60 × 40" in told(app)
    again = run(upload=hashlib.sha256(data).hexdigest())
    assert sum("drop that file" in line for line in lines(again)) == 1
    assert len(blobs(again)) == 1
    drop(again, data, name)
    assert lines(again) == []
    assert blobs(again)[0][0]["trace"] == blobs(app)[0][0]["trace"]


@pytest.mark.parametrize(
    ("data", "name", "says"),
    [
        (deep(), "deep.png", "16 bits a channel reduced to 8"),
        (moving("GIF"), "moving.gif", "animated: its first frame"),
        (moving("PNG"), "moving.png", "animated: its first frame"),
        (moving("WEBP"), "moving.webp", "animated: its first frame"),
    ],
)
def test_what_is_left_of_a_deep_or_a_moving_picture_is_told(data, name, says):
    app = drop(run(fit="stretch"), data, name)
    assert lines(app) == []
    assert says in told(app)
    # the first frame and the deep picture are half black, half white; WebP loses a little
    ends = np.asarray(shown(app).convert("L"))[32, [8, 56]].astype(int)
    assert np.abs(ends - [0, 255]).max() <= 4


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
    app = run(photo="china", layer="1", token="5")
    ((before, _),) = blobs(app)
    drop(app, data, name)
    assert len(lines(app)) == 1
    assert says in lines(app)[0]
    assert "still here" in lines(app)[0]
    assert len(blobs(app)) == 1
    assert (
        before["base"]["select"]
        == blobs(run(photo="china", layer="1", token="5"))[0][0]["base"]["select"]
    )
    assert {"photo": "china", "layer": "1", "token": "5"}.items() <= dict(app.query_params).items()
    drop(app, file_of())
    assert lines(app) == []
    checked(app.button("image_photo_flower").click().run())
    assert "upload" not in app.query_params


@pytest.mark.parametrize("how", painter.FITS)
def test_what_was_done_to_the_picture_is_told(how):
    app = drop(run(fit=how), file_of("JPEG", exif=_turned()), "turned.jpg")
    assert "EXIF" in told(app)
    assert "40 × 60" in told(app)
    side = np.asarray(shown(app))[:, 2]
    assert (how == "pad") == (np.abs(side.astype(int) - 128) <= 1).all()


def _turned():
    exif = Image.Exif()
    exif[0x0112] = 6
    return exif


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"patch": "14"}, "patch 14 does not divide image 64: expected one of 1, 2, 4, 8"),
        ({"heads": "3"}, "heads must divide dim"),
        ({"patch": "5"}, "expected one of 4, 7, 8"),
        ({"upload": "nonsense"}, "a SHA-256"),
    ],
)
def test_what_does_not_fit_is_one_line(query, says):
    app = run(**query)
    (line,) = lines(app)
    assert says in line


def test_a_network_too_large_for_the_machine_is_refused_and_a_smaller_picture_offered(monkeypatch):
    choice = picture.ViTChoice(size=64, patch=8, heads=2, dim=16, depth=2)
    room = memory.needed(picture.ViTChoice(size=48, patch=8, heads=2, dim=16, depth=2)) / 0.8
    monkeypatch.setattr(memory, "available", lambda: int(room) + 8)
    picture.seen.clear()
    app = run(patch="8")
    (line,) = lines(app)
    assert "GiB of memory" in line
    assert line.endswith("image size 48 would fit")
    assert blobs(app) == []
    assert memory.fitting(choice, 0) is None
    checked(app.slider("image_size").set_value(48).run())
    assert lines(app) == []
    assert len(blobs(app)) == 1


def test_an_answer_is_small_and_exact():
    app = run(layer="1", head="1")
    ((header, _),) = blobs(app)
    ask = {"id": 3, "trace": header["trace"], "base": False}
    ask |= {"maps": [[0, "layer", 0, 17, 0, 17]], "rows": [[1, "layer", "query", 4]]}
    ask["rows"] += [[1, "layer", "key", 4], [9, "layer", "key", 4], [1, "layer", "side", 4], [1]]
    ask["rows"] += [[1, "layer", "key", 17], [1, "layer", "key", True]]
    app.session_state["image_view"] = {"view": {"select": header["base"]["select"], "ask": ask}}
    checked(app.run())
    ((answer, area),) = blobs(app)
    assert (answer["base"], answer["picture"], answer["answer"]) == (None, None, 3)
    assert [layer["site"] for layer in answer["layers"]] == [0]
    assert [(row["axis"], row["index"]) for row in answer["rows"]] == [("query", 4), ("key", 4)]
    names: dict = {}
    exec(app.code[0].value.rsplit("\n", 1)[0], names)
    weights = names["t"].weights(layer=1).numpy()
    row, column = (
        np.frombuffer(area, "<f4", part["count"], part["at"]).reshape(2, 17)
        for part in answer["rows"]
    )
    # the same numbers but for the order of float32 sums
    np.testing.assert_allclose(row, weights[:, 4], atol=1e-6)
    np.testing.assert_allclose(column, weights[:, :, 4], atol=1e-6)


def test_the_first_message_stands_until_the_view_speaks_of_its_trace():
    """What the view still says of the picture before must not take the first message's place."""
    app = run()
    ((header, _),) = blobs(app)
    select = header["base"]["select"]
    for trace, has_base in (("another", True), (header["trace"], False), ("another", False)):
        ask = {"id": 3, "trace": trace, "base": False, "maps": [], "rows": []}
        app.session_state["image_view"] = {"view": {"select": select, "ask": ask}}
        checked(app.run())
        ((answer, _),) = blobs(app)
        assert (answer["trace"], answer["base"] is not None) == (header["trace"], has_base)


def test_many_patches_still_fit_one_message_and_their_columns_are_exact():
    app = run(size="480", patch="8", heads="6", dim="96", depth="1", token="1500")
    ((header, area),) = blobs(app)
    (layer,) = header["layers"]
    assert (layer["factor"], layer["shape"]) == (4, [6, 226, 226])
    assert len(area) <= 1_500_000
    ask = {"id": 3, "trace": header["trace"], "base": False, "maps": []}
    ask["rows"] = [[0, "layer", "key", 1500]]
    app.session_state["image_view"] = {"view": {"select": header["base"]["select"], "ask": ask}}
    checked(app.run())
    ((_, area),) = blobs(app)
    assert len(area) <= 6 * 3601 * 4 + 8
    names: dict = {}
    exec(app.code[0].value.rsplit("\n", 1)[0], names)
    for head in (0, 5):
        weights = names["t"].weights(layer=0, head=head, rows=range(0, 3601, 257))[:, 1500]
        column = np.frombuffer(area, "<f4", 6 * 3601).reshape(6, 3601)[head, ::257]
        np.testing.assert_allclose(column, weights.numpy(), atol=1e-6)


def test_what_is_chosen_in_the_picture_gets_into_the_link():
    app = run()
    chosen = {"site": 1, "head": "max", "token": 9, "direction": "in", "scale": "own"}
    app.session_state["image_view"] = {"view": {"select": chosen, "ask": None}}
    checked(app.run())
    told = {"layer": "1", "head": "max", "token": "9", "direction": "in", "scale": "own"}
    assert told.items() <= dict(app.query_params).items()

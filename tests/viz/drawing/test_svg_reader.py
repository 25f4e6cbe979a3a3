"""SVG of the browser as a scene: what is drawn where, and what is refused."""

import base64
import io
import math
import re
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageFont

from viz.drawing.letters import BUNDLED, width
from viz.drawing.scene import Path, Raster, Scene, Text
from viz.drawing.svg_reader import ELEMENTS, TYPE, read

COLOURS = 'fill="#0000ff" stroke="#FF0000" stroke-width="4"'


def svg(inside: str, size: str = 'width="400" height="200"') -> bytes:
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{inside}</svg>'.encode()


def scene(inside: str) -> Scene:
    return read(svg(inside), "tests")


def only(inside: str) -> Any:
    (item,) = scene(inside).items
    return item


def png(rows: int, cols: int) -> str:
    file = io.BytesIO()
    Image.fromarray(np.full((rows, cols, 3), (1, 2, 3), np.uint8)).save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def test_the_page_and_its_words() -> None:
    found = read(
        svg("<title>A &lt;b&gt;\n title</title><g><title>of a part</title></g><desc>What</desc>"),
        "tests 1",
    )
    assert (found.width, found.height) == (300, 150)  # 96 pixels are 72 points
    assert (found.title, found.description, found.software) == ("A <b> title", "What", "tests 1")
    assert found.items == ()


def test_a_rectangle_with_its_colours() -> None:
    found = only(f'<rect x="4" y="8" width="40" height="20" {COLOURS} opacity="0.5"/>')
    corners = {step[1:] for step in found.steps if step[0] in "ML"}
    assert corners == {(3, 6), (33, 6), (33, 21), (3, 21)}
    assert found.steps[-1] == ("Z",)
    assert (found.fill, found.stroke, found.width, found.opacity) == ("#0000ff", "#ff0000", 3, 0.5)


def test_a_circle_is_round_within_a_thousandth() -> None:
    """The largest distance from the circle along every curve, against the radius."""
    found = only('<circle cx="40" cy="60" r="20" fill="#000000"/>')
    at, start, far = np.linspace(0, 1, 101)[:, None], np.zeros(2), 0.0
    for command, *numbers in found.steps:
        points = np.array(numbers).reshape(-1, 2)
        if command == "C":
            a, b, c, d = start, *points
            curve = (1 - at) ** 3 * a + 3 * (1 - at) ** 2 * at * b + 3 * (1 - at) * at**2 * c
            radii = np.linalg.norm(curve + at**3 * d - (30, 45), axis=1)
            far = max(far, float(np.abs(radii - 15).max()))
        start = points[-1] if len(points) else start
    assert 0 < far < 0.015


def test_round_corners_are_at_most_half_a_side() -> None:
    found = only('<rect x="0" y="0" width="40" height="20" rx="99" fill="#000000"/>')
    lines = [step[1:] for step in found.steps if step[0] in "ML"]
    assert {y for _, y in lines} == {0, 7.5, 15}
    assert {x for x, _ in lines} == {0, 7.5, 22.5, 30}


def test_a_path_with_relative_steps_and_a_quadratic_curve() -> None:
    found = only('<path d="M4 8h8v-4l4 4Q20 12 24 8z" fill="none" stroke="#000000"/>')
    assert "".join(step[0] for step in found.steps) == "MLLLCLZ"
    ends = [step[-2:] for step in found.steps[:-1]]
    assert ends == [(3, 6), (9, 6), (9, 3), (12, 6), (18, 6), (3, 6)]
    # a third of the way from each end to the control point (15, 9)
    assert found.steps[4][1:5] == pytest.approx((14, 8, 16, 8))


def test_dashes_and_round_ends() -> None:
    look = 'stroke="#000000" stroke-dasharray="3 9" stroke-linecap="round" stroke-width="2"'
    found = only(f'<line x1="0" y1="4" x2="8" y2="4" {look} fill="none"/>')
    assert found == Path(
        (("M", 0, 3), ("L", 6, 3)), None, "#000000", 1.5, (2.25, 6.75), rounded=True
    )


@pytest.mark.parametrize(
    "unseen",
    [
        '<rect width="9" height="9" fill="none"/>',
        '<rect width="9" height="9" fill="transparent"/>',
        '<rect width="9" height="9" fill="#000000" opacity="0"/>',
        '<rect width="0" height="9" fill="#000000"/>',
        '<rect width="0.05" height="9" fill="#000000"/>',
        '<path d="" fill="#000000"/>',
        '<text x="1" y="1" fill="#000000"> </text>',
        '<text x="1" y="1" fill="#000000" opacity="0">a</text>',
    ],
)
def test_what_is_not_seen_is_not_drawn(unseen: str) -> None:
    assert scene(unseen).items == ()


@pytest.mark.parametrize("anchor", ["start", "middle", "end"])
def test_text_keeps_its_anchor(anchor: str) -> None:
    found = only(f'<text x="40" y="80" font-size="25" text-anchor="{anchor}"> a\n b </text>')
    assert found == Text(30, 60, "a b", 25 * 0.75 * TYPE, "#000000", anchor)  # type: ignore[arg-type]


def test_letters_are_as_wide_as_arial_and_as_high_as_source_sans() -> None:
    """Of the widths of Arial's letters (units of 2048) and the x-height of Source Sans 3, 0.486."""
    arial = {"a": 1139, "e": 1139, "n": 1139, "t": 569, "o": 1139, "i": 455, "s": 1024, "h": 1139}
    text = "attentionishehasnonetothosein"
    ratio = width(text, TYPE) / sum(arial[letter] / 2048 for letter in text)
    assert ratio == pytest.approx(1, abs=0.03)
    top = -ImageFont.truetype(BUNDLED, 1000).getbbox("x", anchor="ls")[1] / 1000
    assert top * TYPE == pytest.approx(0.486, abs=0.01)


@pytest.mark.parametrize("where", ["central", "middle"])
def test_the_line_of_a_text_is_its_middle(where: str) -> None:
    """Half-way between ascent and descent, and half the height of an x, measured in the font."""
    font = ImageFont.truetype(BUNDLED, 1000)
    ascent, descent = font.getmetrics()
    high = -font.getbbox("x", anchor="ls")[1]
    middle = {"central": (ascent - descent) / 2, "middle": high / 2}[where] / 1000
    found = only(f'<text x="0" y="80" font-size="20" dominant-baseline="{where}">a</text>')
    assert found.y - 60 == pytest.approx(middle * found.size, abs=0.01)


def test_turned_text_is_turned_about_its_anchor() -> None:
    """What is below the anchor comes to its left when it is turned by a quarter."""
    look = 'font-size="20" dominant-baseline="central"'
    plain = only(f'<text x="40" y="80" {look}>a</text>')
    found = only(f'<text x="40" y="80" {look} transform="rotate(90 40 80)">a</text>')
    assert (found.x, found.y, found.angle) == pytest.approx((30 - (plain.y - 60), 60, 90))


def test_subscripts_follow_each_other() -> None:
    spans = '<tspan>q</tspan><tspan dy="6" font-size="10">ij</tspan><tspan dy="-6"> x</tspan>'
    for anchor, share in (("start", 0), ("middle", 0.5), ("end", 1)):
        first, below, after = scene(
            f'<text x="40" y="80" font-size="20" text-anchor="{anchor}">{spans}</text>'
        ).items
        assert isinstance(first, Text)
        assert isinstance(below, Text)
        assert isinstance(after, Text)
        assert [first.text, below.text, after.text] == ["q", "ij", " x"]
        whole = width("q", first.size) + width("ij", below.size) + width(" x", after.size)
        assert first.x == pytest.approx(30 - share * whole)
        assert below.x == pytest.approx(first.x + width("q", first.size))
        assert after.x == pytest.approx(below.x + width("ij", below.size))
        assert (first.y, below.y, after.y) == (60, 64.5, 60)
        assert below.size == pytest.approx(first.size / 2)


@pytest.mark.parametrize(
    ("weight", "bold"), [("400", False), ("600", True), ("700", True), ("bold", True)]
)
def test_bold_text(weight: str, bold: bool) -> None:
    assert only(f'<text x="1" y="1" font-weight="{weight}">a</text>').bold is bold


def test_an_image_is_its_pixels() -> None:
    found = only(
        f'<image x="4" y="8" width="40" height="20" preserveAspectRatio="none" href="{png(3, 7)}"/>'
    )
    assert isinstance(found, Raster)
    assert found.box == (3, 6, 30, 15)
    assert found.pixels.shape == (3, 7, 3)
    assert (found.pixels == (1, 2, 3)).all()


PICTURE = '<image x="0" y="0" preserveAspectRatio="none"'


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ("<script>alert(1)</script>", "received <script>"),
        ("<foreignObject/>", "received <foreignObject>"),
        ('<b xmlns="http://www.w3.org/1999/xhtml">a</b>', "received <{http://www.w3.org/1999"),
        ('<rect onclick="x"/>', "expected no attribute onclick of <rect>"),
        ('<g transform="scale(2)"/>', "expected no attribute transform of <g>"),
        ('<rect style="fill: url(http://evil.example)"/>', "expected no attribute style"),
        ("<!-- note -->", "without declarations and comments"),
        ("<![CDATA[a]]>", "without declarations and comments"),
        ("<?php?>", "without declarations and comments"),
        ("<rect>", "well-formed"),
        ("\x01", "well-formed"),
        ("&nbsp;", "well-formed"),
        ('<rect x="nan"/>', "expected x from −100000 to 100000"),
        ('<rect x="1e9"/>', "expected x from"),
        ('<rect x="1e999"/>', "expected x from"),
        ('<rect x="1_0"/>', "expected x from"),
        ('<rect x="9%"/>', "expected x from"),
        ('<rect width="-1"/>', "expected width from 0 to"),
        ('<rect opacity="2"/>', "expected opacity from 0 to 1"),
        ('<rect fill="red"/>', "expected #rrggbb or none as fill"),
        ('<rect fill="url(#a)"/>', "expected #rrggbb or none as fill"),
        ('<rect stroke="#12345\n"/>', "expected #rrggbb or none as stroke"),
        ('<rect stroke-dasharray="0 1"/>', "expected dashes from 0.1"),
        (f'<rect stroke-dasharray="{"1 " * 9}"/>', "expected at most 8 lengths of dashes"),
        ('<rect stroke-linecap="square"/>', "stroke-linecap to be one of butt, round"),
        ('<path d="L1 1"/>', "expected a path of M, L, H, V, C, Q and Z"),
        ('<path d="M1 1A1 1 0 0 0 2 2"/>', "expected a path of"),
        ('<path d="M1"/>', "expected a path of"),
        ('<path d="M1 1Q2 2"/>', "expected a path of"),
        ('<path d="M1 1L1e300 1e300"/>', "expected coordinates of a path within"),
        ('<path d="M1 1L1e999 1l-1e999 0"/>', "expected coordinates of a path within"),
        (f'<path d="M1 1{"h1" * 50_000}"/>' * 5, "expected paths of at most 500000 characters"),
        ('<text transform="rotate(9 1 1)">a</text>', "turned about its own place"),
        ('<text transform="matrix(1 0 0 1 0 0)">a</text>', "turned about its own place"),
        ('<text transform="rotate(999 0 0)">a</text>', "expected turns from −360 to 360"),
        ('<text><tspan><tspan dy="1">a</tspan></tspan></text>', "without others inside"),
        (f"<text>{'a' * 1001}</text>", "texts of at most 1000 characters"),
        (f"<title>{'a' * 1001}</title>", "texts of at most 1000 characters"),
        ('<text dominant-baseline="top">a</text>', "dominant-baseline to be one of"),
        (f'{PICTURE} width="9" height="9" href="http://evil.example/a.png"/>', "images as PNG"),
        (f'{PICTURE} width="9" height="9" href="data:image/png;base64,AAAA"/>', "images as PNG"),
        (f'{PICTURE} width="9" height="9" href="{png(2, 2)[:60]}"/>', "images as PNG"),
        (f'{PICTURE} width="0" height="9" href="{png(2, 2)}"/>', "expected width from 0.1"),
        (f'{PICTURE} width="9000" height="9000" href="{png(1, 1)}"/>', "expected smaller images"),
        (f'{PICTURE} width="1" height="9000" href="{png(1, 99)}"/>', "expected smaller images"),
        ("<g/>" * ELEMENTS, f"expected at most {ELEMENTS} elements"),
    ],
)
def test_everything_else_is_refused_in_one_line(inside: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)) as refused:
        scene(inside)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    "data",
    [
        b"\xff",
        b"",
        b"none",
        b"<svg/>",
        b'<html xmlns="http://www.w3.org/2000/svg"/>',
        svg("", 'width="400"'),
        svg("", 'width="0" height="9"'),
        svg("", 'width="19201" height="9"'),
        svg("", 'width="4" height="2" viewBox="0 0 8 4"'),
        b'<!DOCTYPE svg [<!ENTITY a "b">]>' + svg("&a;"),
    ],
)
def test_what_is_no_figure_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="expected"):
        read(data, "tests")


def test_nesting_however_deep_is_read() -> None:
    assert scene("<g>" * 7000 + '<rect width="9" height="9"/>' + "</g>" * 7000).items


def test_the_numbers_are_finite() -> None:
    found = only('<text x="1" y="2" transform="rotate(-50.5 1 2)" font-size="14">a</text>')
    assert all(map(math.isfinite, (found.x, found.y, found.size)))

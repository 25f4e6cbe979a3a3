"""The QR code of a room, read back by the standard's rules (ISO/IEC 18004)."""

import re
from itertools import pairwise

import pytest

from viz.api import qr
from viz.api.requests import QuestionError

CODE = "abcdefgh"
DATA = {1: 19, 2: 34, 3: 55, 4: 80, 5: 108}  # codewords of data at the lowest error correction
MASKS = (
    lambda row, col: (row + col) % 2 == 0,
    lambda row, col: row % 2 == 0,
    lambda row, col: col % 3 == 0,
    lambda row, col: (row + col) % 3 == 0,
    lambda row, col: (row // 2 + col // 3) % 2 == 0,
    lambda row, col: row * col % 2 + row * col % 3 == 0,
    lambda row, col: (row * col % 2 + row * col % 3) % 2 == 0,
    lambda row, col: ((row + col) % 2 + row * col % 3) % 2 == 0,
)


def modules(svg: str) -> list[list[int]]:
    """The dark modules, 1, of a picture whose lines run along the rows."""
    side = int(re.findall(r'viewBox="0 0 (\d+) \1"', svg)[0])
    grid = [[0] * side for _ in range(side)]
    path = re.findall(r'stroke="#000" d="([^"]+)"', svg)[0]
    x = y = 0.0
    for command, numbers in re.findall(r"([Mmh])([-\d. ]+)", path):
        values = [float(each) for each in re.findall(r"-?[\d.]+", numbers)]
        if command == "h":
            for col in range(int(x), int(x + values[0])):
                grid[int(y)][col] = 1
            x += values[0]
        else:
            x, y = values if command == "M" else (x + values[0], y + values[1])
    zone = qr.QUIET_ZONE
    assert not any(map(any, grid[:zone]))
    assert not any(map(any, grid[-zone:]))
    return [row[zone:-zone] for row in grid[zone:-zone]]


def reserved(row: int, col: int, side: int) -> bool:
    """Whether a module belongs to the finders, the timing, the format or the alignment pattern."""
    corner = (row < 9 and col < 9) or (row < 9 and col >= side - 8) or (row >= side - 8 and col < 9)
    aligned = side > 21 and abs(row - (side - 7)) < 3 and abs(col - (side - 7)) < 3
    return corner or aligned or 6 in (row, col)


def read(svg: str) -> str:
    """The text in a code of one block, byte mode."""
    grid = modules(svg)
    side = len(grid)
    form = [bit ^ plain for bit, plain in zip(grid[8][:5], (1, 0, 1, 0, 1), strict=True)]
    assert form[:2] == [0, 1]  # the lowest error correction
    mask = MASKS[4 * form[2] + 2 * form[3] + form[4]]
    columns = [*range(side - 1, 6, -2), *range(5, 0, -2)]
    bits = ""
    for turn, right in enumerate(columns):
        for row in range(side) if turn % 2 else range(side - 1, -1, -1):
            for col in (right, right - 1):
                if not reserved(row, col, side):
                    bits += str(grid[row][col] ^ mask(row, col))
    assert bits[:4] == "0100"  # bytes
    count = int(bits[4:12], 2)
    assert count + 2 <= DATA[(side - 17) // 4]
    ends = range(12, 12 + 8 * count + 1, 8)
    return bytes(int(bits[start:end], 2) for start, end in pairwise(ends)).decode()


@pytest.mark.parametrize(
    "start",
    ["http://a/b", "http://192.0.2.7:8501/heads", "https://attention.example.org/query_key_value"],
)
def test_the_code_says_the_link(start: str) -> None:
    link = f"{start}?room={CODE}"
    assert read(qr.svg(link, CODE).decode()) == link


@pytest.mark.parametrize(
    "link",
    [
        "",
        "http://a/b",
        "http://a/b?room=another2",
        f"http://a/b?room={CODE}&more=1",
        f"javascript:alert(1)?room={CODE}",
        f"http://ä/b?room={CODE}",
        f"http://{'a' * 100}/b?room={CODE}",
        f"http://[/b?room={CODE}",
    ],
)
def test_only_links_of_the_room_are_drawn(link: str) -> None:
    with pytest.raises(QuestionError, match="expected a"):
        qr.svg(link, CODE)

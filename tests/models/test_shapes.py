"""Wrong shapes and choices are one clear ValueError.

In a process of its own: here the import hook of tests/conftest.py would speak up first.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

WRONG = {
    "attend(x(2, 6), x(2, 4), x(2, 4))": ("divide 6 query heads", "4 and 4"),
    "attend(x(2, 6), x(2, 3), x(2, 2))": ("divide 6 query heads", "3 and 2"),
    "attend(x(2, 6), x(1, 6), x(1, 6))": ("keys for 2 items", "received 1"),
    "attend(x(2, 6), x(2, 6), x(2, 6, 7))": ("(2, 6, 5, 3)", "(2, 6, 7, 3)"),
    "attend(x(2, 6), x(2, 6, 5, 4), x(2, 6))": ("one width", "3 and 4"),
    "attend(*three, mask=Mask(padding=yes(2, 4)))": ("padding: expected shape (2, 5)", "(2, 4)"),
    "attend(*three, mask=Mask(padding=yes(1, 5)))": ("padding: expected shape (2, 5)", "(1, 5)"),
    "attend(*three, mask=Mask(segments=yes(2, 7).long()))": ("segments: expected", "(2, 7)"),
    "attend(*three, mask=Mask(segments=yes(2, 5).long(), offset=1))": ("among 5 keys", "5 queries"),
    "attend(*three, mask=Mask(dense=yes(2, 3, 5, 5)))": ("dense: expected", "(2, 3, 5, 5)"),
    "attend(*three, bias=torch.zeros(5, 5))": ("bias: expected shape (2, 6, 5, 5)", "(5, 5)"),
    "attend(*three, bias=torch.zeros(2, 6, 4, 5))": ("bias: expected", "(2, 6, 4, 5)"),
    "attend(*three, score=Dot(sink=torch.zeros(5)))": ("sink: expected", "6 heads", "(5,)"),
    "Pattern(*three, temperature=torch.ones(1))": ("temperature: expected", "6 heads", "(1,)"),
    "rotate(x(2, 6, 5, 4), rotary_angles(7, 4))": ("5 tokens and 2 pairs", "received 7 and 2"),
    "fit_image(picture, 5, 5, 'squeeze')": ("crop, pad or stretch", "received 'squeeze'"),
    "Mask(window=0)": ("window: expected at least 1", "received 0"),
    "Mask(offset=-1)": ("offset: expected 0 or more", "received -1"),
    "Ablate(0, 0, 'median')": ("expected zero, mean or shuffled", "received 'median'"),
    "Dot(softcap=0.0)": ("softcap: expected a positive", "received 0.0"),
}
SCRIPT = """
import json, sys, torch
from models.attention import Dot, Mask, Pattern, attend
from PIL import Image
from models.edits import Ablate
from models.image import Picture, fit_image
from models.positional import rotary_angles, rotate
def x(batch, head, token=5, dim=3): return torch.zeros(batch, head, token, dim)
def yes(*shape): return torch.ones(shape, dtype=torch.bool)
three, found = [x(2, 6)] * 3, {}
picture = Picture(Image.new('RGB', (3, 2)))
for call in json.load(sys.stdin):
    try:
        eval(call)
    except Exception as error:
        found[call] = [type(error).__name__, str(error)]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def errors() -> dict[str, tuple[str, str]]:
    """What each wrong call raises: its kind and its message."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        input=json.dumps(list(WRONG)),
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("call", WRONG)
def test_wrong_shape_is_one_clear_line(call: str, errors: dict[str, tuple[str, str]]) -> None:
    kind, message = errors[call]
    assert kind == "ValueError"
    assert all(part in message for part in WRONG[call]), message
    assert "\n" not in message

"""Every story: its numbers can be computed, its texts name them, its figure draws every step."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from torch import nn

from tests.javascript import node
from viz import course
from viz.api import figures
from viz.course import prose
from viz.course.inputs import written
from viz.course.reading import Lesson, Step

ROOT = Path(__file__).parents[3]
DRAW = ROOT / "tests" / "js" / "draw_figures.mjs"
STORIES = [each.name for each in course.STORIES]

# what the five documents that the course is based on say in figures, names and code, by lesson
FACTS: dict[str, tuple[str, ...]] = {
    "dictionary": (
        *("167", "186", "170", "176", "0.980", "0.050", "0.100", "199.06", "174.75"),
        *("pickles", "pineapple: brown", "raspberry: crimson", "apple: green", "banana: yellow"),
        *("0.05, 0.075, 0.075, 0.3, 0.4 and 0.1", "convex cone", "convex combination"),
        *("database query", "average pooling", "plain: αi = si / Σj sj"),
    ),
    "by_hand": (
        *("0.4581", "0.4829", "0.3125", "0.6150", "0.2139", "0.4118"),
        *("0.5406", "0.5137", "0.5936", "0.5067", "0.4933", "0.4800", "0.5200"),
        *("0.5355", "0.3502", "0.3615", "0.5397", "0.3430", "0.3641"),
    ),
    "query_key_value": (
        *("1.5410", "−0.2934", "−2.1788", "0.5684", "−1.0845", "−1.3986"),
        *("0.1481", "−0.3337", "−0.3777", "−0.9685", "0.7576", "0.2793", "0.4031"),
        *("0.7347", "0.0293", "0.7999", "0.5206", "0.7036", "0.5168", "0.7022"),
        *("0.6147", "0.3810", "0.6371", "0.4745", "0.7136", "0.6190"),
        *("0.5370", "0.7935", "0.5728", "0.9229", "0.5000", "0.4996", "0.5004"),
        *("0.5549", "0.8582", "0.8583", "five matrix products"),
    ),
    "scale": (
        *("(2, 1, 2)", "(2, 10, 1)", "(2, 10, 4)", "(2, 1, 4)"),
        *("bilinear", "additive", "∜d", "suspected"),
    ),
    "heads": (
        *("8 heads of 64 in 128", "1 × 257 × 512", "1 × 257 × 128", "1 × 8 × 257 × 64"),
        *("20 heads of 10 in 10", "8 × 5 × 10", "8 × 5 × 200", "160 × 5 × 10", "∜10"),
        *("5 heads of 20, 5 to 100", "16 × 5 × 5", "16 × 5 × 100", "80 × 5 × 20"),
        *("Z0", "Z7", "representation subspace", "out + v", "initialised at random", "bmm"),
    ),
    "position": (
        *("(1, 60, 32)", "8.4147e−01", "5.4030e−01", "5.3317e−01", "1.7783e−04"),
        *("9.0930e−01", "−4.1615e−01", "9.0213e−01", "3.5566e−04"),
        *("4.3616e−01", "8.9987e−01", "5.9521e−01", "9.9984e−01", "1.0136e−02", "9.9995e−01"),
        *("9.9287e−01", "1.1918e−01", "9.3199e−01", "1.0314e−02"),
        *("6.3674e−01", "−7.7108e−01", "9.8174e−01", "1.0492e−02"),
        *("2j+1/d", "200 or 1,000", "nn.Parameter(torch.zeros(1, tokens, dim))"),
    ),
    "block": (
        *("vocabulary of 1,000, width 300, 6 blocks of 5 heads and 100 hidden", "(2, 100, 300)"),
        *("0.4425", "0.0958", "0.6142", "0.0573", "0.5657", "0.5332", "1.0185", "0.0264"),
        *("−0.1773", "−0.0453", "−0.0796", "−0.1774", "−0.0451", "−0.0792"),
        *("Xavier", "DropPath", "stochastic depth", "10 %", "four times as wide", "10⁻⁶"),
        *("ReLU", "tanh", "sigmoid", "SiLU", "softplus", "leaky ReLU", "GELU"),
        *("Thinking", "BatchNorm", "For pictures it normalises each by itself"),
    ),
    "head_layer": ("top-1", "Mixup", "CutMix", "each has a weight", "F.cross_entropy"),
    "decoder": ("-1e9", "mask = padding_mask & causal_mask", "[PAD]", "begin symbol"),
    "sampling": ("48,356,782,080", "50,000"),
    "both": (
        *("d = 512", "2,048 hidden units", "6 layers on each side", "dk = dv = 64"),
        *("emb", "prj", "self.out.weight = self.target_embedding.weight", "end symbol"),
    ),
    "vision": (
        *("784 × 784", "28 × 28", "224 × 224", "14 × 14", "256 patches of 588", "257 tokens"),
        *("1 × 256 × 588", "1 × 256 × 128", "1 × 257 × 128", "1 × 1,000", "Eight heads of 64"),
        *("2,048 hidden units", "54,622,184", "image.unfold(2, p, p).unfold(3, p, p)"),
        *("(h w) (p1 p2 c)", "repeat(class_token, '1 1 d -> b 1 d', b=b)", "x = dropout(x)"),
        *("class_token.expand(b, -1, -1)", ".repeat(b, 1, 1)", "16 × 16 × 3 = 768"),
        *("1,000, 1,000 and 10 neurons", "ViT-B/16", "six blocks of 16 heads", "patches of 32"),
    ),
}


def numbers(lesson: Lesson, **changes: Any) -> dict[str, Any]:
    """The numbers of a lesson's figure, asked for as the browser asks."""
    return figures.numbers(lesson.name, [(key, written(each)) for key, each in changes.items()])()


def start(lesson: Lesson) -> dict[str, Any]:
    return {name: each.start for name, each in lesson.inputs.items()}


def at(found: Any, path: str) -> Any:
    for name in path.split("."):
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found


def texts(step: Step) -> list[Any]:
    """All that a step says, but for its title."""
    ask = step.ask or {"text": [], "options": []}
    asked = [ask["text"], *(each["feedback"] for each in ask["options"])]
    return [*step.prose, *step.formulas, *step.code, step.said, *asked]


def board(step: Step) -> dict[str, str]:
    """The parameter with which the browser asks for the step's board."""
    return {"board": step.name} if step.board else {}


@pytest.mark.parametrize("name", STORIES)
def test_every_question_has_one_right_answer_and_feedback_for_each(name: str) -> None:
    asked = [step.ask for step in course.lesson(name).steps if step.ask is not None]
    assert asked, "a story asks for a prediction before a key result"
    for question in asked:
        assert sum(option["right"] for option in question["options"]) == 1
        assert all(option["feedback"] for option in question["options"])


def drawn(name: str, folder: Path) -> dict[str, Any]:
    """What a lesson's figure writes in all its steps; checked on the way."""
    lesson = course.lesson(name)
    cases = []
    for step in lesson.steps:
        for change in step.states():
            inputs = {**start(lesson), **change}
            found = numbers(lesson, **change, **board(step))
            boards = {step.name: found.pop("board")} if step.board else {}
            cases.append(
                {
                    "figure": name,
                    "step": step.name,
                    "steps": [each.name for each in lesson.steps],
                    "boards": boards,
                    "inputs": inputs,
                    "numbers": found,
                    "words": len(str(step.said)),
                }
            )
    path = folder / "cases.json"
    path.write_text(json.dumps(cases, allow_nan=False))
    run = subprocess.run([node(), DRAW, path], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    told = json.loads(run.stdout)
    assert told["drawn"] == len(cases)
    return told


def said(name: str) -> Iterator[str]:
    """The texts of a lesson's steps as they open, with their numbers, which all exist."""
    lesson = course.lesson(name)
    for step in lesson.steps:
        found = numbers(lesson, **board(step), **step.inputs)
        for text in texts(step):
            yield "".join(plain(part, found) for part in text)


def plain(part: prose.Part, found: dict[str, Any]) -> str:
    if isinstance(part, str):
        return part
    if part["tag"] == "number":
        return shown([at(found, path) for path in part["path"].split("&")], part["format"])
    return "".join(plain(each, found) for each in part["parts"])


def shown(values: list[Any], form: str) -> str:
    """Numbers as the browser writes them: of lists one beside the other."""
    first, *others = values
    if isinstance(first, list | tuple):
        rows = zip(first, *others, strict=False)
        return ", ".join(" ".join(shown([each], form) for each in row) for row in rows)
    return "–" if first is None else first if isinstance(first, str) else format(first, form)


@pytest.mark.parametrize("name", STORIES)
def test_the_figure_draws_every_step_and_what_the_documents_say(name: str, tmp_path: Path) -> None:
    """Marks with keys that differ, inside the picture; no fact of the documents is left out."""
    figure = drawn(name, tmp_path)
    told = "\n".join([*said(name), *figure["written"]]).replace("−", "-")
    missing = [fact for fact in FACTS.get(name, ()) if fact.replace("−", "-") not in told]
    assert missing == []


def test_a_block_of_the_first_transformer_has_as_many_parameters_as_in_torch() -> None:
    six = figures.numbers("both", [("board", "six")])()["board"]
    layers = {"encoder": nn.TransformerEncoderLayer, "decoder": nn.TransformerDecoderLayer}
    for side, layer in layers.items():
        assert six[side] == sum(each.numel() for each in layer(512, 8, 2048).parameters())

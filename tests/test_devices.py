"""What a graphics card computes is what the processor computes: passes, edits, every analysis.

Each number is computed twice, on the processor and on the card, from the same weights.
"""

import copy
import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from starlette.applications import Starlette
from starlette.testclient import TestClient

from models.edits import (
    Ablate,
    AblateMLP,
    Cover,
    Cut,
    Patch,
    Reference,
    SetWeights,
    Temperature,
    UsePattern,
)
from models.model import Model
from models.request import File, Picture, Question, Source, TraceRequest, file_of
from models.run import load, trace
from models.trace import Trace
from models.verify import verify
from tests.models import tiny_models
from tests.models.devices import DEVICES
from tests.models.tiny_models import source
from tests.models.vision_language import BY_NAME as SEEING
from tests.viz.api.pictured import networks_in
from tests.viz.api.test_routes import GOOD
from viz.api import registry, tracing
from viz.api.entries import TraceEntry
from viz.api.samples import PHOTOS
from viz.pack import unpack
from viz.routes import ENDPOINTS, routes

CARDS = DEVICES[1:]
CLOSE: dict[str, Any] = {"rtol": 2e-3, "atol": 2e-4}  # of sums in another order, once amplified
OWN = ("encoder", "decoder", "encoder–decoder", "vit")
LIBRARY = ("BERT", "GPT-2", "Llama", "Gemma 2", "T5", "BART", "ViT", "Swin", "GPT-OSS")
NAMES = (*OWN, *LIBRARY)


@pytest.fixture(autouse=True)
def _whole_floats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Convolutions in float32: by default cards round what they multiply to 10 bits."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)


def model(name: str, device: str) -> Model:
    return load(copy.deepcopy(tiny_models.model(name).network), device=device)


def traced(name: str, device: str, **options: Any) -> Trace:
    return trace(model(name, device), *source(name), **options)


def numbers(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Every number in a result, with its place in it; tensors whole."""
    if isinstance(value, (torch.Tensor, int, float)) and not isinstance(value, bool):
        yield place, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from numbers(part, f"{place}.{key}")
    elif dataclasses.is_dataclass(value):
        for each in dataclasses.fields(value):
            yield from numbers(getattr(value, each.name), f"{place}.{each.name}")
    elif isinstance(value, (list, tuple)):
        for at, part in enumerate(value):
            yield from numbers(part, f"{place}[{at}]")


def agree(there: Any, here: Any, at_least: int = 1) -> None:
    """Both results have the same numbers, and at least some."""
    ours, theirs = [*numbers(there)], [*numbers(here)]
    assert [place for place, _ in ours] == [place for place, _ in theirs]
    assert len(ours) >= at_least
    for (place, mine), (_, plain) in zip(ours, theirs, strict=True):
        if isinstance(mine, torch.Tensor):
            message = f"{place}: "
            torch.testing.assert_close(
                mine.detach().cpu(),
                plain.detach().cpu(),
                equal_nan=True,
                msg=lambda text, message=message: message + text,
                **CLOSE,
            )
        else:
            near = math.isclose(mine, plain, rel_tol=CLOSE["rtol"], abs_tol=CLOSE["atol"])
            assert near or (math.isnan(mine) and math.isnan(plain)), (place, mine, plain)


def of_trace(t: Trace) -> dict[str, Any]:
    """What a pass gives: every weight, the output, the hidden states."""
    return {
        "weights": [t.weights(site) for site in t.sites],
        "output": t.output.values,
        "hidden": [states.states for states in t.hidden_states.values()],
    }


# --- passes and edits -------------------------------------------------------------------------


@pytest.mark.parametrize("device", CARDS)
@pytest.mark.parametrize("name", NAMES)
def test_a_pass(name: str, device: str) -> None:
    there = traced(name, device, hidden=True)
    assert there.weights(there.sites[0]).device.type == device
    agree(of_trace(there), of_trace(traced(name, "cpu", hidden=True)), 3)
    assert verify(model(name, device), *source(name)).difference < 1e-4


EDITS: dict[str, Callable[[Model, tuple[Any, ...]], Any]] = {
    "zero": lambda *_: Ablate(1, 0),
    "mean": lambda *_: Ablate(1, (0, 2), "mean"),
    "shuffled": lambda *_: Ablate(1, 0, "shuffled", seed=3),
    "noise": lambda *_: Ablate(1, 0, "noise", seed=3),
    "reference": lambda m, given: Ablate(1, 0, "mean", over=Reference.of("it", trace(m, *given))),
    "MLP": lambda *_: AblateMLP(1),
    "MLP, shuffled": lambda *_: AblateMLP(1, "shuffled", seed=3),
    "temperature": lambda *_: Temperature(0.3, 1, 0),
    "cut": lambda *_: Cut(1, 0, (4, 5), 2),
    "cell": lambda *_: SetWeights(1, 0, 5, 2, 0.4),
    "row": lambda *_: SetWeights(1, 0, 2, (0, 1), (0.7, 0.3)),
    "another head": lambda *_: UsePattern(1, 0, 1),
    "uniform": lambda *_: UsePattern(1, 0, "uniform"),
    "shift": lambda *_: UsePattern(1, 0, "shift", by=2),
    "state": lambda m, given: Patch(1, "hidden", trace(m, *given, hidden=True), 3, 2),
    "query": lambda m, given: Patch(1, "q", trace(m, *given), 3, 2, head=1),
    "key": lambda m, given: Patch(1, "k", trace(m, *given), 3, 2, head=1),
    "value": lambda m, given: Patch(1, "v", trace(m, *given), 3, 2, head=1),
    "head": lambda m, given: Patch(1, "head", trace(m, *given), 3, 2, head=1),
    "cover": lambda *_: Cover((2, 3)),
    "blur": lambda *_: Cover((2, 3), "blur"),
}


@pytest.mark.parametrize("device", CARDS)
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit(edit: str, device: str) -> None:
    tried = False
    for name in ("encoder", "decoder", "vit", "BERT", "Llama"):
        given, results = source(name), []
        try:
            for each in ("cpu", device):
                opened = model(name, each)
                edited = trace(opened, *given, edits=[EDITS[edit](opened, given)], hidden=True)
                results.append(of_trace(edited))
        except (ValueError, TypeError):
            assert not results, "refused on the card alone"
            continue
        tried = True
        if edit != "noise":  # each device draws its own
            agree(results[1], results[0], 3)
    assert tried, "no network takes it"


# --- what the views ask -----------------------------------------------------------------------

OF_PICTURES = {name: query for name, query in GOOD.items() if ("image", name) in ENDPOINTS} | {
    "layer": "site=1",
    "heads": "site=1&axis=query&index=3",
    "sinks": "site=1&outliers=yes",
    "relevance": "method=chefer",
    "perturbation": "method=chefer&proof=deletion",
    "components": "",
    "similar": "token=4",
}
OF_WRITING = {name: query for name, query in GOOD.items() if name not in ("alike", "patched")}


def of_folder(device: str, folder: Path, question: Any, typed: str | None = None) -> TraceEntry:
    source = tracing.stamped(Source("folder", str(folder), device=device))
    return tracing.entry_for(TraceRequest(source, question, typed)).value


def of_picture(device: str, folder: Path) -> TraceEntry:
    networks_in(folder)
    return of_folder(device, folder / "dinov2", Picture(flower()))


def of_question(device: str, folder: Path) -> TraceEntry:
    return of_folder(device, SEEING["LLaVA"].save(folder), Question("what", (flower(),)), "a dog")


def flower() -> File:
    return file_of(Path(PHOTOS["flower"]).read_bytes(), "flower.jpg")


def of_text(device: str, folder: Path) -> TraceEntry:
    source = tracing.of_catalogue("grammar-next", device)
    return tracing.entry_for(TraceRequest(source, "the cats near the cabinet")).value


def answers(entry: TraceEntry, queries: Mapping[str, str]) -> dict[str, tuple[int, Any]]:
    """The status of every answer, and its content."""
    held, given = registry.once(("devices", id(entry)), lambda: entry), {}
    with TestClient(Starlette(routes=routes()), base_url="http://localhost") as client:
        for name, query in queries.items():
            answer = client.get(f"/api/trace/{held.id}/{name}?{query}")
            content: Any = len(answer.content)
            if "json" in answer.headers["content-type"]:
                content = answer.json()
            elif "octet" in answer.headers["content-type"]:
                content = unpack(answer.content)
            given[name] = answer.status_code, content
    return given


@pytest.mark.parametrize("device", CARDS)
@pytest.mark.parametrize(
    ("entry_of", "queries"),
    [
        (of_text, GOOD),
        (of_picture, OF_PICTURES),
        (of_question, OF_WRITING),
    ],
)
def test_what_the_views_ask(
    entry_of: Callable[[str, Path], TraceEntry],
    queries: Mapping[str, str],
    device: str,
    tmp_path: Path,
) -> None:
    here = answers(entry_of("cpu", tmp_path / "a" / "model"), queries)
    there = answers(entry_of(device, tmp_path / "b" / "model"), queries)
    assert sum(status == 200 for status, _ in here.values()) > 10
    assert {name: status for name, (status, _) in there.items()} == {
        name: status for name, (status, _) in here.items()
    }
    for name in here:
        if name not in ("export", "python", "corpora", "photo"):
            agree(there[name][1], here[name][1], 0)

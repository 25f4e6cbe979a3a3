"""The code that reproduces a view: what it imports."""

import pytest
import torch

from models import edits
from models.edits import Ablate, Temperature
from models.edits.text import kinds
from models.request import Source, TraceRequest
from models.run import load, trace
from viz.api import snippet, tracing


@pytest.mark.parametrize("named", [True, False], ids=["named by the package", "found by its file"])
def test_an_edit_is_imported_from_where_it_is(named: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not named:
        monkeypatch.delattr(edits, "Temperature")
    model, text = load("grammar"), "the old dog sees a cat"
    request = TraceRequest(Source("catalogue", "grammar"), text, edits=(Temperature(0.5, 1),))
    shown = trace(model, text, edits=[Temperature(0.5, 1)])
    code = snippet.code(request, model, shown, 1, 0)
    *lines, last = code.splitlines()
    scope: dict = {}
    exec("\n".join(lines), scope)
    assert eval(last, scope).equal(shown.weights(1, 0))
    assert kinds()["Temperature"] is scope["Temperature"]


def test_the_code_of_an_experiment_prints_the_numbers_on_screen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    request = TraceRequest(
        tracing.of_catalogue("grammar-next"), "the cat saw the dog", edits=(Ablate(1, 0),)
    )
    entry = tracing.entry_for(request).value
    scope: dict = {}
    exec("\n".join(entry.code(1, 0).splitlines()[:-1]), scope)
    *lines, kl = capsys.readouterr().out.splitlines()
    told = entry.predict(0, "out", None)["change"]
    screen = dict(zip(told["labels"], zip(told["before"], told["after"], strict=True), strict=True))
    assert {line.split()[0] for line in lines} == screen.keys()
    for line in lines:
        name, before, _, after = line.split()
        assert (before, after) == tuple(f"{share:.4f}" for share in screen[name])
    assert kl == f"KL {told['kl']:.4f} nats"
    assert scope["t"].weights(1, 0).equal(entry.trace.weights(1, 0))


def test_the_code_of_an_experiment_without_logits_prints_how_far_the_embedding_moves(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, off = "the cat saw the dog", Ablate(5, 11)
    request = TraceRequest(tracing.of_catalogue("minilm"), text, edits=(off,))
    entry = tracing.entry_for(request).value
    exec("\n".join(entry.code(1, 0).splitlines()[:-1]), {})
    model = load("minilm")
    states = [trace(model, text, edits=each).output.values[0].mean(0) for each in ([], [off])]
    cosine = float(torch.cosine_similarity(*[each.double() for each in states], dim=0))
    words, _, number = capsys.readouterr().out.strip().rpartition(" ")
    assert words == "1 − cosine of the embeddings"
    assert float(number) == pytest.approx(1 - cosine, rel=1e-3)

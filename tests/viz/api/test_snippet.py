"""The code that reproduces a view: what it imports."""

import pytest

from models import edits
from models.edits import Temperature
from models.edits.text import kinds
from models.request import Source, TraceRequest
from models.run import load, trace
from viz.api import snippet


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

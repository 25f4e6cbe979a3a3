"""Every site of models with several in a layer, through links, files, snippets and the shell."""

import json
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import headscope as hs
from analysis.view import View
from models import tracing
from models.run import load, trace
from models.trace import Trace
from models.where import Where
from tests.javascript import node
from tests.models.pretrained.test_addresses import SEVERAL, several
from viz.api.entries import TraceEntry
from viz.api.snippet import weights_of
from viz.command import main
from viz.export import export
from viz.export.responses import python
from viz.notebook import explore
from viz.pages.explore import page
from viz.pages.state import params as link
from viz.views.request import site_name

CORE = "viz/web/core"
ROOT = Path(__file__).parents[2]
# Reads {sites, defaults, links}; writes the link of every site, and the site of every link.
SCRIPT = f"""
import {{ queryOf }} from "{(ROOT / CORE / "link.js").as_uri()}";
import {{ addressOf, fromLink }} from "{(ROOT / CORE / "selection.js").as_uri()}";
let text = "";
for await (const chunk of process.stdin) text += chunk;
const {{ sites, defaults, links }} = JSON.parse(text);
const queries = sites.map((_, site) => queryOf(addressOf(sites, site), defaults));
const found = links.map((each) => fromLink({{ sites }}, each).site);
console.log(JSON.stringify({{ queries, found }}));
"""


@pytest.fixture(scope="module", params=SEVERAL)
def t(request: pytest.FixtureRequest) -> Trace:
    return trace(*several(request.param))


def in_browser(t: Trace, links: list[dict[str, Any]]) -> dict[str, Any]:
    names = ("layer", "kind", "tower", "module", "part", "heads", "queries", "keys")
    sites = [{name: getattr(site, name) for name in names} for site in t.sites]
    defaults = {each.name: each.default for each in page.params("", {})}
    given = json.dumps({"sites": sites, "defaults": defaults, "links": links})
    command = [node(), "--input-type=module", "-e", SCRIPT]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_a_link_keeps_the_site(t: Trace) -> None:
    """The browser writes it, Python reads and writes it, and the browser finds the site again."""
    queries = in_browser(t, [])["queries"]
    params = page.params("", {})
    links = []
    for query in queries:
        values, problems = link.read(params, query)
        assert not problems
        assert link.write(params, values) == query
        links.append({name: values[name] for name in ("layer", "attention", "tower")})
        links[-1] |= {"module": values["module"], "part": values["part"]}
    assert in_browser(t, links)["found"] == [*range(len(t.sites))]
    firsts: dict[tuple, int] = {}
    for index, (site, query) in enumerate(zip(t.sites, queries, strict=True)):
        first = firsts.setdefault((site.layer, site.kind, site.tower), index)
        assert (first == index) == (not query.keys() & {"module", "part"})


def test_a_file_has_the_site(t: Trace, tmp_path: Path) -> None:
    for site in t.sites:
        expected = t.weights(site, 0).numpy(force=True)
        for number, where in enumerate((site, site.where, t.address(site))):
            path = export(t, tmp_path / f"{number}.npz", layer=where, head=0)
            assert np.array_equal(np.load(path)["weights"][0], expected)
        named = site.where.coordinates
        assert np.array_equal(
            np.load(export(t, tmp_path / "named.npz", head=0, **named))["weights"][0], expected
        )
    site = t.sites[-1]
    assert explore(t, view="matrix", layer=site.where).request.site == site
    assert explore(t, view="matrix", **site.where.coordinates).request.site == site


def test_snippets_name_the_site(t: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    entry = TraceEntry(t)
    files = set()
    for index, site in enumerate(t.sites):
        expected = t.weights(site, 0)
        assert eval(weights_of(t, index, 0), {"t": t}).equal(expected)
        line = python(entry, index, 0, "matrix").code.splitlines()[-1]
        path = eval(line.replace(".pdf", ".npz"), {"t": t, "hs": hs})
        assert np.array_equal(np.load(path)["weights"][0], expected.numpy(force=True))
        files.add(path)
    assert len(files) == len(t.sites)
    names = [site_name(site, t.sites) for site in t.sites]
    assert len({*names}) == len(names)


def test_the_shell_writes_the_site(
    t: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = SimpleNamespace(preprocessing=None, sound=None)
    monkeypatch.setattr(tracing, "open_model", lambda _: model)
    monkeypatch.setattr(tracing, "run", lambda *_: t)
    path = tmp_path / "a.npz"
    for site in t.sites:
        options = ["--layer", site.layer, "--kind", site.kind, "--part", site.part]
        options += ["--module", site.module, *(["--tower", site.tower] if site.tower else [])]
        asked = ["--text", "a", "--head", 0, "-o", path, *options]
        assert main([*map(str, asked)]) == 0
        assert np.array_equal(np.load(path)["weights"][0], t.weights(site, 0).numpy(force=True))


def test_a_joint_map_has_an_address() -> None:
    view = View(trace(load("dates"), "3 March 1998"))
    joint = [site for site in view.sites if site.kind == "joint"]
    assert joint
    for site in joint:
        assert view.address(site) == Where(site.layer, "joint")
        assert view.site(site.layer, "joint") is site

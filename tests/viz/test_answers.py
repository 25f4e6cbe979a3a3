"""The tables of views hold what the analyses compute; test_one_answer.py is about where they go."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from analysis import grounding, masking, norms
from analysis.alignment import align, aligning_heads
from analysis.attribution import logit_attribution
from analysis.blame import blame
from analysis.contrast import contrast
from analysis.faithfulness import faithfulness, perturbation
from analysis.flow import flow
from analysis.heads import heads
from analysis.lens import jacobian_lens, logit_lens
from analysis.methods import names_of
from analysis.relevance import explain
from analysis.rollout import rollout
from analysis.stack import combined
from analysis.target import target_in
from analysis.vision import feature_colours, patch_similarity
from models.picture_grid import Box
from tests.viz.test_one_answer import asked_for
from viz.views import VIEWS
from viz.views.pictures.numbers import CONTROLS
from viz.views.request import Request

MAPS: dict[str, Callable[..., Any]] = {
    "mean": lambda r: combined(r.view, "mean"),
    "max": lambda r: combined(r.view, "max"),
    "rollout": lambda r: rollout(r.view),
    "flow": lambda r: flow(r.view, r.row),
    "alti": lambda r: norms.alti(r.view),
    "norms": lambda r: norms.value_norms(r.view, r.site)[1],
}


def run_of(request: Request) -> tuple[Any, Any, Any]:
    """The model, its input, and what is chosen."""
    assert request.entry.opened is not None
    return *request.entry.opened()[:2], request.selection


def of_method(request: Request) -> dict[str, Any]:
    model, given, chosen = run_of(request)
    method = chosen.method
    if method in MAPS:
        return {method: MAPS[method](request)}
    name = f"{method}, token" if request.picture is None else method
    return {name: explain(model, given, method=method).tokens}


def of_test(request: Request) -> dict[str, Any]:
    """Comprehensiveness and sufficiency of a text, or the curves of a picture."""
    model, given, chosen = run_of(request)
    tokens: Any = explain(model, given, method=chosen.method).tokens
    if request.picture is not None:
        found = perturbation(model, given, tokens, chosen.proof)
        curves = torch.stack([found.most, found.least, *found.random])
        return {f"{chosen.method}, {chosen.proof}": curves}
    found = faithfulness(model, given, tokens)
    return {
        f"{chosen.method}, {name}": torch.cat([mine[None], random])
        for name, mine, random in (
            ("comprehensiveness", found.comprehensiveness, found.random_comprehensiveness),
            ("sufficiency", found.sufficiency, found.random_sufficiency),
        )
    }


def of_lens(request: Request) -> dict[str, Any]:
    t: Any = request.view
    lens = {"logit": logit_lens, "jacobian": jacobian_lens}[request.selection.lens]
    states = torch.stack([lens(t, n) for n in range(len(t.hidden_states[None].states))])
    target = target_in(run_of(request)[0], t, None)
    logits, (shares, ids) = states[:, target.position], states.softmax(-1).max(-1)
    followed = logits[:, target.id, None]
    return {
        "probability": shares,
        "likeliest id": ids,
        "rank": 1 + (logits > followed).sum(-1),
        "probability of the output": logits.softmax(-1)[:, target.id],
    }


def of_parts(request: Request) -> dict[str, Any]:
    """Heads in the order of layers, then what else is added."""
    t, sites = (
        request.entry.trace,
        [s for s in request.view.sites if s.tower == request.view.sites[-1].tower],
    )
    id, other = int(t.output.row(-1).argmax()), 7 if request.selection.versus else None
    found = logit_attribution(t, id, versus=other)
    names = [f"layer {s.layer}, {'cross ' * (s.kind == 'cross')}head" for s in sites]
    mine = [
        found.pop(f"{name} {head}")
        for name, site in zip(names, sites, strict=True)
        for head in range(site.heads)
    ]
    mlps = [found.pop(name) for name in [*found] if name.endswith("MLP")]
    return {"heads": mine, "other parts": [*mlps, *found.values()]}


def of_blame(request: Request) -> dict[str, Any]:
    found = blame(*run_of(request)[:2])
    effects = {name: [e.effect for e in getattr(found, name)] for name in ("edges", "path")}
    shares = [found.before, found.after, *found.controls]
    return {"relevance": found.tokens, "probability": shares, **effects}


def of_features(request: Request) -> dict[str, Any]:
    t: Any = request.view
    states = t.final()[t.prefix :]
    near = patch_similarity(states, request.selection.token - t.prefix)
    return {"components": (255 * feature_colours(states)[0]).round(), "similarity": near}


def of_word(request: Request) -> dict[str, Any]:
    """What the second word of an answer about two pictures looked at, needs, or rests on."""
    t, (model, prompt, chosen) = request.entry.trace, run_of(request)
    (row,) = rows = grounding.rows_of(t, [1])
    ids = masking.ids_of(t)
    if chosen.rival:
        rival = int(model.tokenizer.encode(chosen.rival).ids[-1])
        found = contrast(model, prompt, masking.read_whole(model, ids), 1, int(ids[1]), rival)
        grids = t.key_pictures(request.site)
        return {f"relevance {n}": found.on(grid) for n, grid in enumerate(grids, 1)}
    weights = t.weights(request.site, 1, rows=[row])
    tables: dict[str, Any] = {
        f"weight {n}": weights[:, grid.places]
        for n, grid in enumerate(t.key_pictures(request.site), 1)
    }
    tables["share"] = torch.stack(tuple(grounding.split(t, request.site, rows)), -1)[1:2]
    if chosen.area:
        box = Box(0.1, 0.2, 0.6, 0.7)
        found = masking.need(model, prompt, ids, [1], box, controls=CONTROLS)
        tables["probability"] = [found.before, found.after, *found.elsewhere]
    return tables


def of_sound(request: Request) -> dict[str, Any]:
    t: Any = request.view
    heard = t.weights(request.site, 1, rows=[4])[:, : t.sound.frames_heard(request.site.keys)]
    return {"seconds": [each[1:] for each in align(t, heads=aligning_heads(t))], "weight": heard}


def of_heads(request: Request) -> dict[str, Any]:
    return {"heads": torch.stack([each.flatten() for each in heads(request.view).values()], -1)}


CASES: list[tuple[str, str, Callable[[Request], dict[str, Any]], dict[str, Any]]] = [
    *(
        ("decoder", "model", of_method, {"method": name})
        for name in (*MAPS, *names_of("relevance"))
    ),
    ("picture", "model", of_method, {"method": "chefer"}),
    ("decoder", "faithfulness", of_test, {"method": "gradient", "output": ""}),
    *(
        ("picture", "faithfulness", of_test, {"proof": proof})
        for proof in ("deletion", "insertion")
    ),
    *(("decoder", "lens", of_lens, {"lens": lens}) for lens in ("logit", "jacobian")),
    *((kind, "parts", of_parts, {"versus": "0.7"}) for kind in ("decoder", "pair")),
    ("decoder", "parts", of_parts, {}),
    ("decoder", "blame", of_blame, {}),
    ("picture", "features", of_features, {}),
    *((kind, "pictures", of_word, {}) for kind in ("asked", "asked, an area", "asked, a rival")),
    ("recording", "sound", of_sound, {}),
    ("encoder", "numbers", of_heads, {}),
]


@pytest.mark.parametrize(("kind", "view", "analyses", "chosen"), CASES)
def test_the_numbers_of_a_view_are_those_of_the_analyses(
    kind: str, view: str, analyses: Callable[[Request], dict[str, Any]], chosen: dict[str, Any]
) -> None:
    request = asked_for(kind, view, **chosen)
    expected, tables = analyses(request), VIEWS[view].answer(request).tables
    assert {table.name for table in tables} == expected.keys()
    for table in tables:
        numbers = np.asarray(expected[table.name], dtype=float)
        np.testing.assert_allclose(table.values, numbers, rtol=1e-4, atol=1e-5)

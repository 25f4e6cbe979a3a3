"""Every operation under every edit is the operation on a network into which the edit is built."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor

from analysis.attribution import logit_attribution
from analysis.blame import Edge, blame, edge_effects
from analysis.effects import Logit
from analysis.generation import continue_text
from analysis.lens import logit_lens
from analysis.sweep import sweep
from models.edits import Temperature
from models.run import trace
from models.trace import Trace
from tests.models.architectures import ARCHITECTURES, ids
from tests.models.edits.plain import CASES, NETWORKS
from tests.models.tiny_models import (
    EDITS,
    HEADS,
    NAMES,
    PATCHED,
    Built,
    Pass,
    block_of,
    edited,
    grid_of,
    hooked,
    model,
    near,
    places_of,
    plain,
    source,
)

ROUGH = 1e-4  # of the largest number, backwards through two layers or as text
TOKEN = 7  # whose logit is divided
WINDOWED = {"Swin", "Swin V2"}  # whose calls of attention are of windows, not of the whole picture
OF_HEADS = {"Ablate zero", "layer", "temperature", "another head"}  # which are the same in windows
Operation = Callable[[Any], None]
TEXTS = [a.name for a in ARCHITECTURES if a.inputs().keys() == {"input_ids", "attention_mask"}]
DECODERS = [a.name for a in ARCHITECTURES if re.search("CausalLM|LMHead", a.model)]
DECODERS += ["decoder", "decoder, grouped", "decoder, relative"]


def refused(call: Callable[[], Any]) -> bool:
    """Whether a call is refused in one line."""
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        call()
    return True


def applies(name: str, edit: str, place: int) -> bool:
    """Whether an edit has something to act on; where it has not, it has to be refused."""
    site = plain(name).sites[place]
    if edit == "Cover":
        return name not in ("DETR", "Qwen2-VL", "Idefics3") and grid_of(name) is not None
    if edit.startswith("AblateMLP"):
        return name not in ("OPT", "layer") and site.tower != "visual"
    if edit in CASES and CASES[edit].square:
        return site.kind != "cross"
    if edit == "Patch hidden":
        return name not in ("layer", *WINDOWED) and site.tower in plain(name).hidden_states
    return True


def is_built(name: str, edit: str) -> bool:
    """Whether the network with the edit built in is at hand."""
    if name in WINDOWED and edit != "Cover" and not edit.startswith("AblateMLP"):
        return name == "Swin" and edit in OF_HEADS
    return name != "ALBERT" or not (edit.startswith("AblateMLP") or edit == "Patch hidden")


@pytest.mark.parametrize("name", NAMES)
def test_a_pass_with_an_edit(name: str) -> None:
    """Its output, weights and hidden states, in each kind of attention; or it is refused."""
    wrong, places = [], places_of(name)
    for turn, edit in enumerate(EDITS):
        place = places[turn % len(places)]
        if not applies(name, edit, place):
            call = partial(trace, model(name), *source(name), hidden=True)
            assert refused(lambda: call(edits=[edited(name, edit, place)[0]]))  # noqa: B023
        elif is_built(name, edit):
            wrong += [f"{edit} at {place}: {each}" for each in differences(name, edit, place)]
    assert not wrong


def differences(name: str, edit: str, place: int) -> Iterator[str]:
    made, built = edited(name, edit, place)
    t = trace(model(name), *source(name), edits=[made], hidden=True)
    with torch.no_grad():
        expected = built.run(source(name))
    if not near(t.output.values, expected.output):
        yield f"output off by {(t.output.values - expected.output).abs().max():.2g}"
    if name not in ("CLIP", "SigLIP") and near(t.output.values, plain(name).output.values, ROUGH):
        yield "nothing changed"
    for site, weights in zip(
        t.sites, expected.weights if name not in WINDOWED else (), strict=False
    ):
        mine = [t.weights(site, item=item) for item in range(len(t.queries(site)))]
        if not near(torch.stack(mine), weights):
            yield f"weights of {site}"
    path = "explicit" if "weights" in built.changes else "fused"
    if (
        name in ("encoder", "decoder", "vit")
        and edit in CASES
        and t.pattern(t.sites[place]).path != path
    ):
        yield "another kernel"
    for layer, state in enumerate(expected.states[:-1]):
        if layer == 0 and built.reads and name in NETWORKS:
            continue  # ours note what would be read
        if not near(t.hidden(layer, tower=t.sites[-1].tower), state[0]):
            yield f"hidden state {layer}"


# --- operations -----------------------------------------------------------------------------------


class Case(NamedTuple):
    """An edit of a decoder.

    Attributes:
        name: of the network.
        what: the edit, by its name.
        edit: that is made.
        place: number of its site.
        built: the network into which it is built.
        t: the edited trace, with hidden states.
        expected: what the built network leaves.
    """

    name: str
    what: str
    edit: Any
    place: int
    built: Built
    t: Trace
    expected: Pass

    @property
    def ids(self) -> Tensor:
        first = source(self.name)[0]
        return first if isinstance(first, Tensor) else first["input_ids"]

    @property
    def is_set(self) -> bool:
        """Whether the weights of the site are set after the softmax."""
        return "weights" in self.built.changes


def case_of(name: str, edit: str, place: int) -> Case:
    made, built = edited(name, edit, place)
    t = trace(model(name), *source(name), edits=[made], hidden=True)
    return Case(name, edit, made, place, built, t, built.run(source(name)))


def derivatives(case: Case) -> None:
    """By the weights and the hidden states."""
    given: dict[str, Any] = {"gradient": lambda out: out.values[0].square().sum(), "hidden": True}
    t = trace(model(case.name), *source(case.name), edits=[case.edit], **given)
    tower, states = t.sites[-1].tower, case.expected.states[:-1]
    by = [*zip(case.expected.weights, map(t.gradient, t.sites), strict=True)]
    by += [
        (state, t.hidden_gradient(layer, tower=tower))
        for layer, state in enumerate(states)
        if state.requires_grad
    ]
    slopes = slopes_of(case.expected.output[0].square().sum(), [x for x, _ in by])
    assert all(near(mine, x[0], ROUGH) for (_, mine), x in zip(by, slopes, strict=True))


def slopes_of(number: Tensor, by: list[Tensor]) -> tuple[Tensor, ...]:
    """Derivatives of a number; zeros where it does not depend on a tensor."""
    lost: dict[str, Any] = {"materialize_grads": True, "allow_unused": True, "retain_graph": True}
    return torch.autograd.grad(number, by, **lost)


def lens(case: Case) -> None:
    """Each state in the place of what leaves the last block."""
    block, network = block_of(case.name, case.t.sites[-1]), model(case.name).network
    for layer in range(len(case.t.hidden_states[None].states)):
        state = case.t.hidden(layer)[None].expand(len(case.ids), -1, -1)
        with hooked(network, block, lambda x, state=state: state), torch.no_grad():
            expected = case.built.run(source(case.name)).output[0]
        assert near(logit_lens(case.t, layer), expected, ROUGH)


def parts(case: Case) -> None:
    """They sum to the logit; what is ablated adds nothing, what is no sum of parts is refused."""
    site, last = case.t.sites[case.place], PATCHED[-1] - 1
    no_sum = case.what in ("Ablate noise", "Ablate reference", "Patch head")
    nothing_normed = case.what == "layer" and case.name in ("Gemma 2", "Gemma 3")
    if no_sum or nothing_normed or case.name in ("DeepSeek-V3", "Qwen3-Next"):
        assert refused(lambda: logit_attribution(case.t, TOKEN, query=PATCHED[0]))
        return
    shares = logit_attribution(case.t, TOKEN, query=last)
    logit = float(case.expected.output[0, last, TOKEN].detach())
    assert sum(shares.values()) == pytest.approx(logit, rel=1e-3, abs=1e-4)
    ablated = {"AblateMLP zero": ["MLP"], "Ablate zero": [f"head {head}" for head in HEADS]}
    for part in ablated.get(case.what, []):
        assert shares.get(f"layer {site.layer}, {part}", 0.0) == pytest.approx(0, abs=1e-4)
    if case.what == "Patch hidden":
        assert refused(lambda: logit_attribution(case.t, TOKEN, query=PATCHED[0]))


def swept(case: Case) -> None:
    """The edit of every head in turn: here one and the same."""
    site, network = case.t.sites[case.place], model(case.name)
    where: dict[str, Any] = {"kind": site.kind, "tower": site.tower}
    given: dict[str, Any] = {"measure": Logit(TOKEN), **where}
    given["edit"] = lambda i, _: case.edit if i == site.layer else Temperature(1, i, **where)
    clean = Built(case.name).run(source(case.name))
    change = (case.expected.output - clean.output)[0, -1, TOKEN].detach()
    found = sweep(network, *source(case.name), **given, layer=site.layer)[case.place]
    assert near(found, change.expand_as(found), ROUGH)
    if case.built.at is not None:
        by = clean.values[case.place]
        slope = torch.autograd.grad(clean.output[0, -1, TOKEN], by)[0]
        change = ((case.expected.values[case.place] - by) * slope).sum().detach()
        found = sweep(network, *source(case.name), **given, how="attribution")[case.place]
        assert near(found, change.expand_as(found), 1e-3)


def blamed(case: Case) -> None:
    """Edges by their rows without them, and the passes without the most telling ones."""
    id = int(case.expected.output[0, -1].argmax())
    given: dict[str, Any] = {"edits": [case.edit]}
    t = trace(model(case.name), case.ids, gradient=lambda out: log_p(out.values, id), **given)
    slopes = slopes_of(log_p(case.expected.output, id), case.expected.weights)
    for row, site in enumerate(t.sites):
        weights, effects = case.expected.weights[row], edge_effects(t, site)
        for head, query, key in ((0, 5, 2), (1, 6, 0), (2, 5, 4), (2, 4, 4)):
            edge = Edge(site.layer, head, query, key, 0.0)
            after = without(weights, [edge], keep=row == case.place and case.is_set)
            effect = float(((after - weights) * slopes[row])[0].sum().detach())
            assert float(effects[head, query, key]) == pytest.approx(effect, rel=1e-2, abs=1e-4)
    text = case.ids[:1]
    result = blame(model(case.name), text, target=(text.shape[1] - 1, id), controls=0, **given)

    def edges(place: int) -> list[Edge]:
        return [each for each in result.edges if each.layer == t.sites[place].layer]

    def hidden(place: int, scores: Tensor) -> Tensor:
        for edge in () if case.is_set and place == case.place else edges(place):
            scores[:, edge.head, edge.query, edge.key] = -torch.inf
        return scores.masked_fill(scores < -1e30, -torch.inf)

    built = case.built
    if case.is_set:
        own = built.changes["weights"]
        after = {"weights": lambda x: without(own(x), edges(case.place), keep=True)}
        built = replace(built, changes=after)
    more: dict[str, Any] = {"scores": hidden, "weights": lambda _, x: x.nan_to_num(0)}
    for network, cut, found in ((case.built, {}, result.before), (built, more, result.after)):
        with torch.no_grad():
            share = float(network.run((text, None), **cut).output[0, -1].softmax(-1)[id])
        assert found == pytest.approx(share, rel=1e-3, abs=1e-5)


def log_p(logits: Tensor, id: int) -> Tensor:
    return logits[0, -1].log_softmax(-1)[id]


def without(weights: Tensor, edges: list[Edge], keep: bool) -> Tensor:
    """Rows without some edges, as the softmax shares them out anew; or as they keep their sum."""
    cut = weights.clone()
    for edge in edges:
        row = cut[:, edge.head, edge.query]
        whole = row.sum(-1, keepdim=True) if keep else 1.0  # with what a sink has
        left = whole - row[:, edge.key, None]
        row = row.index_fill(1, torch.tensor(edge.key), 0.0)
        cut[:, edge.head, edge.query] = torch.where(left > 1e-6, row / left * whole, 0.0)
    return cut


def continued(case: Case) -> None:
    """Token by token, each by a pass over the text so far."""
    text = case.ids[:1]
    found = continue_text(model(case.name), text, 3, edits=[case.edit])
    for step, id in enumerate(found.ids):
        with torch.no_grad():
            now = case.built.run((text, None))
        shares = now.output[0, -1].softmax(-1)
        assert id == int(shares.argmax())
        assert found.probabilities[step] == pytest.approx(float(shares.max()), abs=ROUGH)
        text = torch.cat([text, torch.tensor([[id]])], 1)


WHOLE = [name for name in NAMES if name not in WINDOWED]
MASKED = [*DECODERS, "BERT with a head"]
OPERATIONS: dict[Operation, list[str]] = {
    **dict.fromkeys((swept, blamed), MASKED),
    **dict.fromkeys((lens, parts, continued), DECODERS),
    derivatives: WHOLE,
}
SHARE = 12  # of an operation's models, by turns


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.usefixtures("unchecked_shapes")
def test_an_operation_under_an_edit(edit: str) -> None:
    """Every operation, on every twelfth of its models."""
    wrong, cases = [], dict[str, Case]()
    for turn, (operation, names) in enumerate(OPERATIONS.items(), EDITS.index(edit) + 3):
        for name in names[turn % SHARE :: SHARE]:
            place = places_of(name)[0]
            if applies(name, edit, place) and is_built(name, edit):
                cases.setdefault(name, case_of(name, edit, place))
                try:
                    operation(cases[name])
                except (AssertionError, ValueError, RuntimeError) as error:
                    wrong.append(f"{operation.__name__}, {name}: {str(error)[:200]}")
    assert not wrong


@pytest.mark.parametrize("name", ["BERT", "BERT with a head", "ViT", "T5", "CLIP", "DETR", "LLaVA"])
def test_what_does_not_go_on_with_a_text_is_refused(name: str) -> None:
    assert refused(lambda: continue_text(model(name), source(name)[0], 2))
    if name in ("BERT", "ViT", "DETR"):
        assert refused(lambda: logit_lens(plain(name), 0))
        assert refused(lambda: logit_attribution(plain(name), TOKEN))


@pytest.mark.parametrize("name", [*TEXTS, "encoder", "encoder, alibi", *DECODERS[-3:]])
@pytest.mark.usefixtures("unchecked_shapes")
def test_an_item_beside_padding_is_edited_as_it_is_alone(name: str) -> None:
    """Positions, means and draws are of its own tokens, whichever side the padding is on."""
    rows, wrong = ids(2, 11) % 31, []
    for turn, edit in enumerate(EDITS[NAMES.index(name) % 3 :: 3]):
        left, place = bool(turn % 2) and name in DECODERS[:-3], places_of(name)[0]
        own = slice(4, None) if left else slice(0, 7)
        if not applies(name, edit, place):
            continue
        shown = torch.ones_like(rows)
        shown[0], shown[0, own] = 0, 1  # item 0: seeds are its own
        given = {"input_ids": rows * shown, "attention_mask": shown}
        if left:  # positions count from the first token, as they do alone
            given["position_ids"] = (shown.cumsum(1) - 1).clamp(min=0)
        edits = [edited(name, edit, place)[0]]
        t = trace(model(name), given, edits=edits, hidden=True)
        alone = trace(model(name), rows[:1, own], edits=edits, hidden=True)
        both = [(x.output.of_item(0), *map(x.weights, x.sites), x.hidden(1)) for x in (t, alone)]
        if not all(near(mine, other, ROUGH) for mine, other in zip(*both, strict=True)):
            wrong.append((edit, left))
    assert not wrong

"""MLPs and activations of another pass in transformers models: against hooks on named modules."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from models.edits import Ablate, AblateMLP, Patch
from models.run import Trace, trace
from tests.models.edits.architectures import STACKS, inputs, model, plain

EXACT = 1e-5  # of the largest number: float32 through two layers


def other(name: str) -> dict[str, Tensor]:
    """Another input of the same size."""
    given = inputs(name)
    return {
        key: x.roll(2, 1)
        if key.endswith("ids")
        else x.flip(0) * 0.5
        if x.is_floating_point()
        else x
        for key, x in given.items()
    }


@cache
def source(name: str) -> Trace:
    """The pass of another input."""
    return trace(model(name), other(name), hidden=True)


def first(out: Any) -> Tensor:
    """The tensor that a trace calls the output."""
    for name in ("logits", "logits_per_image", "last_hidden_state"):
        if isinstance(getattr(out, name, None), Tensor):
            return getattr(out, name)
    raise AssertionError(out)


def near(found: Tensor, expected: Tensor) -> bool:
    return bool((found - expected).abs().max() <= EXACT * max(1.0, float(expected.abs().max())))


@contextmanager
def hooked(name: str, path: str, change: Any, *, reads: bool = False) -> Iterator[None]:
    """Inside, what a module of the library reads or returns is changed by hand."""
    module = model(name).get_submodule(path)

    def read(module: Any, args: tuple, kwargs: Any) -> Any:
        if args:
            return (change(args[0].clone()), *args[1:]), kwargs
        key = next(key for key, x in kwargs.items() if isinstance(x, Tensor) and x.ndim == 3)
        return args, {**kwargs, key: change(kwargs[key].clone())}

    def returned(module: Any, args: tuple, out: Any) -> Any:
        return (
            change(out.clone()) if isinstance(out, Tensor) else (change(out[0].clone()), *out[1:])
        )

    hook = (
        module.register_forward_pre_hook(read, with_kwargs=True)
        if reads
        else module.register_forward_hook(returned)
    )
    try:
        yield
    finally:
        hook.remove()


def hooks(name: str) -> int:
    """Number of hooks of a model; the library has some of its own."""
    every = [*model(name).modules()]
    return sum(len(each._forward_hooks) + len(each._forward_pre_hooks) for each in every)


def library(name: str) -> Tensor:
    """The library's own output, whatever hooks there are."""
    with torch.no_grad():
        return first(model(name)(**inputs(name)))


@pytest.mark.parametrize(("name", "tower"), STACKS)
def test_a_hidden_state(name: str, tower: str | None) -> None:
    """Of some tokens, at every layer: the state of the trace is the one that was put there."""
    stack = STACKS[name, tower]
    depth = len(model(name).get_submodule(stack))
    for layer in range(depth + 1):
        theirs = torch.stack([source(name).hidden(layer, item, tower=tower) for item in range(2)])

        def change(x: Tensor, theirs: Tensor = theirs) -> Tensor:
            x[:, 2], x[:, 4] = theirs[:, 5], theirs[:, 4]
            return x

        edit = Patch(layer, "hidden", source(name), (2, 4), (5, 4), tower=tower)
        found = trace(model(name), inputs(name), edits=[edit], hidden=True)
        with hooked(name, f"{stack}.{max(layer - 1, 0)}", change, reads=layer == 0):
            expected = library(name)
        assert near(found.output.values, expected), layer
        own, before = (t.hidden(layer, tower=tower) for t in (found, plain(name)))
        assert own[2].equal(theirs[0, 5])
        assert own[4].equal(theirs[0, 4])
        assert own[[0, 1, 3, 5]].equal(before[[0, 1, 3, 5]])


@pytest.mark.parametrize(("name", "tower"), [each for each in STACKS if each[0] != "SigLIP"])
def test_patching_everything_gives_the_other_output(name: str, tower: str | None) -> None:
    depth = len(model(name).get_submodule(STACKS[name, tower]))
    for layer in range(depth + 1):
        edits: list[Any] = [Patch(layer, "hidden", source(name), tower=tower)]
        if tower == "encoder":
            edits.append(Patch(0, "hidden", source(name), tower="decoder"))
        if tower == "decoder":
            last = len(source(name).hidden_states["encoder"].states) - 1
            edits.append(Patch(last, "hidden", source(name), tower="encoder"))
        found = trace(model(name), inputs(name), edits=edits)
        assert near(found.output.values, source(name).output.values), layer
    assert not near(plain(name).output.values, source(name).output.values)


@pytest.mark.parametrize("name", ["BERT", "Llama", "GPT-2"])
def test_a_concurrent_trace_of_the_same_model_is_not_edited(name: str) -> None:
    """Another thread traces, and the library runs, before each layer of an edited pass."""
    seen: list[tuple[Tensor, Tensor]] = []

    def meanwhile(done: int, count: int) -> None:
        with ThreadPoolExecutor(1) as pool:
            one = pool.submit(lambda: trace(model(name), inputs(name)).output.values)
            two = pool.submit(library, name)
            seen.append((one.result(), two.result()))

    edits: list[Any] = [Patch(1, "hidden", source(name)), AblateMLP(1), Ablate(0, 1)]
    untouched, before = library(name), hooks(name)
    found = trace(model(name), inputs(name), edits=edits, progress=meanwhile)
    assert len(seen) > 1
    for traced, ran in seen:
        assert traced.equal(plain(name).output.values)
        assert near(ran, untouched)
    assert found.output.values.equal(trace(model(name), inputs(name), edits=edits).output.values)
    assert library(name).equal(untouched)
    assert hooks(name) == before


def test_a_block_that_runs_repeatedly() -> None:
    """ALBERT: its blocks are one module, which is edited in one of its runs."""
    name = "ALBERT"
    group = model(name).encoder.albert_layer_groups[0].albert_layers[0]
    runs = 0

    def instead(module: Any, args: Any, out: Tensor) -> Any:
        nonlocal runs
        runs += 1
        return torch.zeros_like(out) if runs == 2 else None

    hook = group.ffn_output.register_forward_hook(instead)
    expected = library(name)
    hook.remove()
    assert runs == 2
    assert near(trace(model(name), inputs(name), edits=[AblateMLP(1)]).output.values, expected)
    edits = [Patch(1, "hidden", source(name))]
    found = trace(model(name), inputs(name), edits=edits, hidden=True)
    assert found.hidden(1).equal(source(name).hidden(1))
    assert found.hidden(0).equal(plain(name).hidden(0))
    assert near(found.output.values, source(name).output.values)
    with pytest.raises(ValueError, match="did not run for layer 2"):
        trace(model(name), inputs(name), edits=[AblateMLP(2)])


def test_hooks_go_when_a_pass_fails() -> None:
    class Broken:
        acts_on = "mlp"

        def edit_mlp(self, added: Tensor, padding: Any) -> Tensor:
            raise ArithmeticError("on purpose")

    with pytest.raises(ArithmeticError, match="on purpose"):
        trace(model("Llama"), inputs("Llama"), edits=[Broken()])
    assert library("Llama").equal(library("Llama"))
    assert near(library("Llama"), plain("Llama").output.values)


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("Llama", lambda t: AblateMLP(2), "layer: expected 0 to 1, received 2"),
        ("Llama", lambda t: AblateMLP(0, tower="encoder"), "tower"),
        ("BERT", lambda t: AblateMLP(0, module="decoder"), "module"),
        ("Swin", lambda t: Patch(1, "hidden", t), "expected hidden states that leave 4 blocks"),
    ],
)
def test_refused_by_name(name: str, edit: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trace(model(name), inputs(name), edits=[edit(source(name))])


def test_a_module_can_be_named() -> None:
    named = AblateMLP(None, module="model.layers.1.mlp")
    block = AblateMLP(None, module="model.layers.1")
    expected = trace(model("Llama"), inputs("Llama"), edits=[AblateMLP(1)]).output.values
    for edit in (named, block):
        assert trace(model("Llama"), inputs("Llama"), edits=[edit]).output.values.equal(expected)


def test_later_questions_are_of_the_edited_pass() -> None:
    """Further passes, for the stream and for what is made from it, are edited as well."""
    edits: list[Any] = [AblateMLP(0), Patch(0, "hidden", source("Llama"), 3)]
    found = trace(model("Llama"), inputs("Llama"), edits=edits, hidden=True)
    stream = found.stream(1, [0, 3, 5])
    torch.testing.assert_close(stream.state, found.hidden(1)[[0, 3, 5]])
    parts = stream.parts()
    assert "layer 0, MLP" not in parts or parts["layer 0, MLP"].abs().max() < 1e-5

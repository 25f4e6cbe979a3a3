"""Overhead of tracing: the same network traced, fused and eager, interleaved.

    python -m benchmarks.forward [--tokens 128 512 2048] [--network bert] [--rounds 20]
        [--forms traced door edited fused eager] [--device cpu] [--no-memory]

The same weights and ids; no mask; one item. It is traced as a network of ours and through
transformers' own code ("door"), also with one head switched off ("edited"). transformers runs in
inference mode, its best case. In float32 all must agree before anything is timed. MiB are the peak
above what the loaded network takes once it has run on one token, in a process of its own, outputs
and all intermediate results included. The networks are bert (the shape of BERT-base), bert-tiny,
gpt2-tiny and llama-tiny (12 layers of tiny width, where only Python counts), and llama-8b
(bfloat16; without eager, whose weights fit no GPU).
"""

import sys
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from benchmarks import networks
from benchmarks.measure import Aim, Spread, Table, command, interleaved, ratios
from benchmarks.memory import MIB, in_fresh_process, rise_of

READING_ROUNDS = 5
CLOSE = 5e-4  # float32 round-off, through 12 layers, of sums taken in another order
AIMS = {"traced": 1.15, "door": 1.25}  # times fused


@command
def main(
    tokens: tuple[int, ...] = (128, 512, 2048),
    network: str = "bert",
    rounds: int = 20,
    forms: tuple[str, ...] = networks.FORMS,
    device: str = "cpu",
    no_memory: bool = False,
) -> Iterator[object]:
    settle = torch.cuda.synchronize if "cuda" in device else lambda: None
    by_form = networks.forms(network, forms, device)
    for count in tokens:
        ids = networks.draw_ids(count, device)
        if "eager" in by_form and network != "llama-8b":
            apart = largest_difference(by_form, ids)
            yield f"largest difference at {count} tokens: {apart:.1e} of the largest value"
        cases = {name: partial(run, ids) for name, run in by_form.items()}
        seconds = interleaved(cases, rounds, settle=settle)
        beside = {name: ratios(seconds[name], seconds["fused"]) for name in by_form}
        t = by_form["door"](ids)
        readings = {name: partial(read, t) for name, read in networks.READINGS.items()}
        seconds |= interleaved(readings, min(READING_ROUNDS, rounds), settle=settle)
        rows = []
        for name, times in seconds.items():
            case = (name, network, device, count)
            mib = None if no_memory else in_fresh_process(rise, *case) / MIB
            rows.append([name, Spread(times), beside.get(name), mib])
        yield Table([f"{network}, {count:,} tokens", "seconds", "× fused", "MiB"], rows)
        for name in AIMS.keys() & by_form.keys():
            yield Aim(f"{name}, × fused at {count} tokens", beside[name].median, AIMS[name])


def rise(name: str, network: str, device: str, tokens: int) -> int:
    """Bytes by which the peak rises when a form runs or a trace is read."""
    reading = networks.READINGS.get(name)
    (run,) = networks.forms(network, ["door" if reading else name], device).values()
    run(networks.draw_ids(1, device))
    ids = networks.draw_ids(tokens, device)
    if reading is None:
        return rise_of(lambda: run(ids), device)
    t = run(ids)
    return rise_of(lambda: reading(t), device)


def largest_difference(forms: dict[str, networks.Form], ids: Tensor) -> float:
    """How far outputs, and one head of each layer's weights, are from eager attention.

    Raises:
        RuntimeError: if they do not compute the same.
    """
    eager = forms["eager"](ids)
    apart = {"fused": _apart(forms["fused"](ids)[0], eager[0])}
    for name in {"traced", "door"} & forms.keys():
        t = forms[name](ids)
        apart[f"{name}, output"] = _apart(t.output.values, eager[0])
        apart[f"{name}, weights"] = max(
            _apart(t.weights(layer, head), weights[0, head])
            for layer, weights in enumerate(eager.attentions)
            for head in [layer % weights.shape[1]]
        )
    if not max(apart.values()) <= CLOSE:
        raise RuntimeError(f"expected the same results up to {CLOSE}, received {apart}")
    return max(apart.values())


def _apart(these: Tensor, those: Tensor) -> float:
    """The largest difference, as a share of the largest magnitude."""
    return float((these - those).abs().max() / those.abs().max())


if __name__ == "__main__":
    sys.exit(main())

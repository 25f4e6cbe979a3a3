"""Coverage of transformers model types, compared with the library's own eager attention.

    python -m benchmarks.coverage [--json] [--write] [--only bert t5] [--family vision audio]

Every model type of the installed transformers that can be built tiny from its config is tried: a
batch of two, padded right and left, its second item alone, and in bfloat16. Each map is compared
with the weights that the library's eager attention leaves, row by row, and the output with that of
the untouched model. `--write` puts the table into docs/coverage.md, with what eight threads do to
one another in a minute (benchmarks.threads).
"""

import argparse
import gc
import inspect
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from benchmarks import threads
from benchmarks.eager import Call, Seen, arguments, eager, tensors
from benchmarks.measure import as_json, machine, table
from benchmarks.model_inputs import Inputs, alone, padded, runnable
from benchmarks.tiny import FAMILIES, WINDOW, ModelType, build, model_types, quiet, reason_of
from models.run import Trace, load, trace

DOC = Path(__file__).parents[1] / "docs" / "coverage.md"
AIM = 1e-4  # float32, two layers, scores up to 50
SECONDS = 60  # for one model type
ROWS = 512  # compared at most, of a map whose rows the library computes in another order


@dataclass(frozen=True)
class Row:
    """One model type.

    Attributes:
        name: as its config calls it.
        family: what it reads.
        model: the library's class.
        result: "exact", "refused", "broken" or "untried".
        inputs: what it was given.
        checks: the largest difference of a weight, by variation.
        output: largest difference of the output, over the largest number in it.
        attends: attention modules the library's eager pass went through.
        hidden: classes whose softmax weights are not shown, though the type is traced.
        window: of its attention, if the inputs exceed one.
        reason: why it is refused or broken, or was not tried.
        remarks: what else was noticed.
    """

    name: str
    family: str = "other"
    model: str = ""
    result: str = "untried"
    inputs: str = ""
    checks: Mapping[str, float] = field(default_factory=dict)
    output: float = 0.0
    attends: int = 0
    hidden: tuple[str, ...] = ()
    window: bool = False
    reason: str = ""
    remarks: tuple[str, ...] = ()

    @property
    def weights(self) -> float:
        """Largest difference of a weight in float32."""
        return max((v for k, v in self.checks.items() if k != "bfloat16"), default=0.0)


class Wrong(Exception):
    """A difference between a trace and the library."""


def main(arguments: list[str] | None = None) -> int:
    """Try every model type and print. Returns 1 if one is broken."""
    options = parse(arguments)
    warnings.simplefilter("ignore")
    transformers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    rows = []
    for row in tried_types(options.only, options.family):
        rows.append(row)
        if not options.quiet:
            print(progress(row), file=sys.stderr, flush=True)
    if options.json:
        found = {"machine": machine(("torch", "transformers")), "rows": [asdict(r) for r in rows]}
        print(as_json(found))
    else:
        shown = [row for row in rows if row.result != "untried"]
        print(table(HEAD, [cells(row) for row in in_order(shown)]))
        print(summary(rows))
    if options.write:
        DOC.write_text(document(rows, threads.run(options.seconds)), encoding="utf-8")
    return int(any(row.result == "broken" for row in rows))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="Which model types of transformers are traced.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--write", action="store_true", help="write docs/coverage.md")
    parser.add_argument("--only", nargs="+", default=[], help="these model types")
    parser.add_argument("--family", nargs="+", default=[], help="families: the first word is enough")
    parser.add_argument("--quiet", action="store_true", help="no line for each type on stderr")
    parser.add_argument("--seconds", type=float, default=60.0, help="of eight threads, for --write")
    return parser.parse_args(arguments)


def tried_types(only: Sequence[str] = (), families: Sequence[str] = ()) -> Iterator[Row]:
    """The row of each model type."""
    for kind in model_types():
        name = kind[0] if isinstance(kind, tuple) else kind.name
        if only and name not in only:
            continue
        if isinstance(kind, tuple):
            if not families:
                yield Row(name, reason=kind[1])
        elif not families or any(part in kind.family for part in families):
            yield tried(kind)
            gc.collect()


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raises TimeoutError inside after so many seconds, where the system has such a clock."""

    def ring(*_: Any) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def tried(kind: ModelType) -> Row:
    """One model type, built and compared; what goes wrong is in the row."""
    row = Row(kind.name, kind.family, kind.model.__name__)
    try:
        with limited(SECONDS), quiet():
            try:
                model, reference = build(kind)
                inputs, seen, _ = runnable(reference, lambda given: eager(reference, given))
            except TimeoutError:
                raise
            except Exception as error:
                return replace(row, reason=reason_of(error))
            paths = {call.path for call in (*seen.calls, *seen.others)}
            row = replace(row, inputs=described(inputs), attends=len(paths))
            return compared(row, model, reference, inputs, seen)
    except TimeoutError as error:
        return replace(row, reason=str(error))


def described(inputs: Inputs) -> str:
    """Names of the inputs, without those that only describe others."""
    beside = ("mask", "_thw", "_hws", "sizes", "shapes", "type_ids", "position_ids", "bbox")
    names = [n for n in inputs if not any(part in n for part in beside)]
    return ", ".join(names)


def compared(row: Row, model: nn.Module, reference: nn.Module, inputs: Inputs, seen: Seen) -> Row:
    """The row of a type that runs."""
    try:
        load(model)
    except ValueError as error:
        return refused(row, seen, str(error))
    checks: dict[str, float] = {}
    output, remarks, hidden, window = 0.0, [], (), False
    try:
        for name, given in variations(inputs):
            try:
                expected = seen if name == "plain" else eager(reference, given)
                untouched = _run(model, given)
            except Exception as error:
                remarks.append(f"{name}: the library itself raises {reason_of(error):.80}")
                continue
            try:
                found = trace(model, given)
            except Exception as error:
                raise Wrong(f"{name}: trace raises {reason_of(error)}") from error
            try:
                checks[name], more = maps(found, expected, given)
                output = max(output, outputs(found, untouched, given))
            except Wrong as error:
                raise Wrong(f"{name}: {error}") from error
            remarks += more
            hidden = unshown(found, expected)
            window = window or windowed(expected, given)
            if checks[name] > AIM:
                raise Wrong(f"{name}: a weight differs by {checks[name]:.1e}")
            if output > 10 * AIM:
                raise Wrong(f"{name}: the output differs by {output:.1e} of its largest number")
        checks["bfloat16"] = halved(model, reference, inputs, seen, remarks)
    except Wrong as error:
        result = "broken"
        if "no attention on this input" in str(error) and not seen.calls:
            result = "refused"
        row = replace(row, result=result, reason=str(error))
    except TimeoutError:
        raise
    except Exception as error:
        row = replace(row, result="broken", reason=f"trace: {reason_of(error)}")
    else:
        row = replace(row, result="exact")
    return replace(
        row,
        checks=checks,
        output=output,
        remarks=tuple(dict.fromkeys(remarks)),
        hidden=hidden,
        window=window,
    )


def refused(row: Row, seen: Seen, message: str) -> Row:
    """A type that is not traced: it must have no attention, or a reason that names what has."""
    classes = sorted({call.kind for call in seen.others})
    if seen.calls:
        names = ", ".join(sorted({call.kind for call in seen.calls}))
        why = f"refused, though {names} uses the attention interface: {message}"
        return replace(row, result="broken", reason=why)
    if not classes:
        return replace(row, result="refused", reason="no softmax attention weights")
    if not any(name in message for name in classes) and "does not go through" not in message:
        why = f"refused without naming {', '.join(classes)}: {message}"
        return replace(row, result="broken", reason=why)
    return replace(row, result="refused", reason=message.partition(": ")[2] or message)


def variations(inputs: Inputs) -> Iterator[tuple[str, Inputs]]:
    """The batch plain, padded on either side, and its second item by itself."""
    yield "plain", inputs
    right, left = padded(inputs, left=False), padded(inputs, left=True)
    if right is not None:
        yield "right", right
    if left is not None:
        yield "left", left
    single = alone(right or inputs)
    if single is not None:
        yield "alone", single


def _run(model: nn.Module, inputs: Inputs) -> Any:
    with torch.no_grad():
        return model(**arguments(model, inputs))


# --- comparisons ----------------------------------------------------------------------------------


def maps(found: Trace, expected: Seen, inputs: Inputs) -> tuple[float, list[str]]:
    """Largest difference of any weight, and remarks.

    Raises:
        Wrong: for a map without counterpart, or of another shape.
    """
    if not expected.calls:
        raise Wrong("the trace has maps, the library's eager pass none")
    largest, remarks = 0.0, []
    shown = {call.path for call in expected.calls}
    sites, modules = len(found.sites), len(shown)
    if sites != modules:
        remarks.append(f"{modules} attention modules are {sites} layers")
    for site, calls in paired(found, expected.calls):
        for item, theirs in items_of(site, calls, len(found.tokens)):
            mine = of_site(found, site, item)
            if theirs is None:
                largest = max(largest, any_rows(mine, calls))
                remarks.append("windows: rows compared in any order")
            else:
                largest = max(largest, one_map(mine, theirs, inputs, item))
    return largest, remarks


def of_site(found: Trace, site: Any, item: int) -> Tensor:
    """The weights of a site, `head query key`."""
    more: dict[str, Any] = {}
    if hasattr(site, "module") and "module" in inspect.signature(found.weights).parameters:
        more["module"] = site.module
    try:
        return found.weights(site.layer, kind=site.kind, tower=site.tower, item=item, **more)
    except Exception as error:
        raise Wrong(f"layer {site.layer} {site.kind} item {item}: {reason_of(error)}") from error


def paired(found: Trace, calls: Sequence[Call]) -> Iterator[tuple[Any, list[Call]]]:
    """Each site with its calls of the library.

    Raises:
        Wrong: if they cannot be told.
    """
    if len(found.sites) == len(calls):
        yield from ((site, [call]) for site, call in zip(found.sites, calls, strict=True))
        return
    by_path: dict[str, list[Call]] = {}
    for call in calls:
        by_path.setdefault(call.path, []).append(call)
    if all(getattr(site, "module", None) in by_path for site in found.sites):
        yield from ((site, by_path[getattr(site, "module")]) for site in found.sites)
        return
    if len(found.sites) != len(by_path):
        raise Wrong(f"{len(found.sites)} maps for {len(calls)} calls of {len(by_path)} modules")
    yield from zip(found.sites, by_path.values(), strict=True)


def items_of(site: Any, calls: Sequence[Call], items: int) -> Iterator[tuple[int, Tensor | None]]:
    """Each item with the library's map; None where it was computed in parts.

    Raises:
        Wrong: if heads, rows or columns are not as many.
    """
    for call in calls:
        if call.weights.ndim != 4:
            raise Wrong(f"{call.path}: the library's weights are {tuple(call.weights.shape)}")
        if call.weights.shape[1] != site.heads:
            raise Wrong(f"{call.path}: {call.weights.shape[1]} heads are {site.heads}")
    first = calls[0].weights
    whole = (first.shape[2], first.shape[3]) == (site.queries, site.keys)
    whole = whole or (first.shape[2], first.shape[3] - 1) == (site.queries, site.keys)
    if len(calls) == 1 and whole:
        for item in range(len(first)):
            yield item, first[item][..., : site.keys]
        return
    for item in range(items):
        yield item, None


def one_map(mine: Tensor, theirs: Tensor, inputs: Inputs, item: int) -> float:
    """Largest difference of one item's map, whose padding the trace leaves out.

    Raises:
        Wrong: if rows or columns that the library uses are missing, or labels would not fit.
    """
    theirs = theirs.float()
    rows = own(mine.shape[1], theirs.shape[1], inputs, item, theirs)
    keys = own(mine.shape[2], theirs.shape[2], inputs, item, theirs)
    if rows is None or keys is None:
        raise Wrong(f"{tuple(mine.shape)} of the library's {tuple(theirs.shape)} are shown")
    part = theirs[:, rows][:, :, keys]
    lost = float((theirs[:, rows].sum(-1) - part.sum(-1)).abs().max())
    if lost > AIM:
        raise Wrong(f"columns that hold up to {lost:.1e} of a row are not shown")
    return _off(mine, part)


def _off(mine: Tensor, theirs: Tensor) -> float:
    if not mine.numel():
        return 0.0
    both = torch.isnan(mine) & torch.isnan(theirs)
    off = torch.where(both, torch.zeros_like(mine), (mine - theirs).abs())
    return float(off.nan_to_num(torch.inf).max())


def own(count: int, length: int, inputs: Inputs, item: int, theirs: Tensor) -> Tensor | None:
    """Positions of an item's own tokens on an axis, by their number."""
    if count == length:
        return torch.arange(length)
    for name, mask in inputs.items():
        shown = isinstance(mask, Tensor) and "mask" in name and mask.ndim == 2
        if shown and mask.shape[1] == length and len(mask) > item:
            real = mask[item].nonzero().flatten()
            if len(real) == count:
                return real
    used = (theirs.sum((0, 1)) > 0).nonzero().flatten()
    return used if len(used) == count and count < length else None


def any_rows(mine: Tensor, calls: Sequence[Call]) -> float:
    """Largest distance of a row to the nearest of the library's, their weights sorted.

    For attention in windows, whose rows and columns the trace puts in the order of the tokens.
    """
    largest = 0.0
    for head in range(len(mine)):
        rows = mine[head]
        rows = rows[:: max(1, len(rows) // ROWS)].sort(-1, descending=True).values
        theirs = [call.weights[:, head].float().flatten(0, 1) for call in calls]
        width = max(rows.shape[1], *(part.shape[1] for part in theirs))
        sorted_ = [_wide(part.sort(-1, descending=True).values, width) for part in theirs]
        distance = torch.cdist(_wide(rows, width), torch.cat(sorted_), p=torch.inf)
        largest = max(largest, float(distance.min(1).values.max()))
    return largest


def _wide(rows: Tensor, width: int) -> Tensor:
    return torch.nn.functional.pad(rows, (0, width - rows.shape[1]))


def outputs(found: Trace, untouched: Any, inputs: Inputs) -> float:
    """Difference of the traced output to the untouched one, over the largest number in it.

    Raises:
        Wrong: if the untouched model has no such output.
    """
    mine, best = found.output.values, None
    for theirs in tensors(untouched):
        if theirs.shape == mine.shape and theirs.is_floating_point():
            off, scale = (mine - theirs).abs(), theirs.abs()
            mask = inputs.get("attention_mask")
            if isinstance(mask, Tensor) and off.shape[:2] == mask.shape:
                off, scale = off[mask.bool()], scale[mask.bool()]
            here = float(off.nan_to_num(0.0).max()) / max(1.0, float(scale.nan_to_num(0.0).max()))
            best = here if best is None else min(best, here)
    if best is None:
        raise Wrong(f"no output of the library is {tuple(mine.shape)}")
    return best


def unshown(found: Trace, expected: Seen) -> tuple[str, ...]:
    """Classes whose attention bypasses the interface.

    Raises:
        Wrong: if the trace does not say that it is not shown.
    """
    classes = tuple(sorted({call.kind for call in expected.others}))
    silent = [name for name in classes if not any(name in note for note in found.notes)]
    if silent:
        raise Wrong(f"softmax of {', '.join(silent)} is neither shown nor named")
    return classes


def windowed(expected: Seen, inputs: Inputs) -> bool:
    """Whether some row sees no more keys than a window, and others see as many."""
    for call in expected.calls:
        seen = (call.weights > 0).sum(-1)
        if call.weights.shape[-1] > 2 * WINDOW + 1 and int(seen.max()) <= 2 * WINDOW + 1:
            return True
    return False


def halved(
    model: nn.Module, reference: nn.Module, inputs: Inputs, whole: Seen, remarks: list[str]
) -> float:
    """Largest difference in bfloat16; no more than some times the library's own to float32.

    Raises:
        Wrong: if it is larger.
    """
    model.to(torch.bfloat16)
    reference.to(torch.bfloat16)
    given = {
        name: value.bfloat16() if isinstance(value, Tensor) and value.is_floating_point() else value
        for name, value in inputs.items()
    }
    try:
        expected = eager(reference, given)
        _run(model, given)
    except Exception as error:
        remarks.append(f"bfloat16: the library itself raises {reason_of(error):.80}")
        return 0.0
    rounding = max(
        (
            float((a.weights.float() - b.weights).abs().nan_to_num(1.0).max())
            for a, b in zip(expected.calls, whole.calls, strict=False)
            if a.weights.shape == b.weights.shape and a.weights.numel()
        ),
        default=0.0,
    )
    try:
        found = trace(model, given)
        off, _ = maps(found, expected, given)
    except Wrong as error:
        raise Wrong(f"bfloat16: {error}") from error
    except Exception as error:
        raise Wrong(f"bfloat16: trace raises {reason_of(error)}") from error
    if off > max(0.05, 3 * rounding):
        raise Wrong(f"bfloat16: off by {off:.1e}, the library from float32 by {rounding:.1e}")
    return off


# --- the table ------------------------------------------------------------------------------------

HEAD = ["model type", "class", "result", "modules", "inputs", "weights", "output", "bfloat16"]


def progress(row: Row) -> str:
    numbers = f"{row.weights:.0e} {row.output:.0e}" if row.checks else ""
    return f"{row.result:8} {row.name} {numbers} {row.reason}"


def cells(row: Row) -> list[str]:
    """One line of the table."""
    first = [row.name, row.model, row.result, str(row.attends)]
    if row.result != "exact":
        return [*first, row.inputs, "", "", row.reason]
    half = f"{row.checks['bfloat16']:.0e}" if row.checks.get("bfloat16") else "–"
    return [*first, row.inputs, f"{row.weights:.1e}", f"{row.output:.1e}", half]


def in_order(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (FAMILIES.index(row.family), row.name))


def summary(rows: Sequence[Row]) -> str:
    """tried / exact / refused / broken, in one line."""
    count = Counter(row.result for row in rows)
    tried_ = sum(count.values()) - count["untried"]
    attend = sum(row.attends > 0 for row in rows)
    worst = max((row.weights for row in rows if row.result == "exact"), default=0.0)
    return (
        f"{tried_} tried ({attend} attend) / {count['exact']} exact (largest difference"
        f" {worst:.1e}) / {count['refused']} refused / {count['broken']} broken;"
        f" {count['untried']} not tried"
    )


def document(rows: Sequence[Row], together: threads.Report) -> str:
    """docs/coverage.md."""
    return ""


if __name__ == "__main__":
    sys.exit(main())

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
import re
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any

import torch
import transformers
from torch import Tensor, nn

from benchmarks import threads
from benchmarks.eager import SEED, Call, Seen, arguments, eager, tensors
from benchmarks.measure import as_json, machine, table
from benchmarks.model_inputs import Inputs, alone, padded, runnable
from benchmarks.tiny import FAMILIES, WINDOW, ModelType, build, model_types, quiet, reason_of
from models.run import Trace, load, trace

DOC = Path(__file__).parents[1] / "docs" / "coverage.md"
ROUNDING = 0.1  # the library's own, of a deep network: beyond it nothing can be told
AIM = 1e-4  # float32, two layers, scores up to 50
UNSUPPORTED = re.compile(r"\(\S+\) passes its attention \S+, which is not supported")
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


class MismatchError(Exception):
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
    parser.add_argument(
        "--family", nargs="+", default=[], help="families: the first word is enough"
    )
    parser.add_argument("--quiet", action="store_true", help="no line for each type on stderr")
    parser.add_argument("--seconds", type=float, default=60.0, help="of eight threads, for --write")
    return parser.parse_args(arguments)


def tried_types(only: Sequence[str] = (), families: Sequence[str] = ()) -> Iterator[Row]:
    """The row of each model type."""
    for kind in model_types(only):
        if isinstance(kind, tuple):
            if not families:
                yield Row(kind[0], reason=kind[1])
        elif not families or any(part in kind.family for part in families):
            yield tried(kind)
            gc.collect()


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raises TimeoutError inside after so many seconds, where the system has such a clock."""
    if not hasattr(signal, "SIGALRM") or current_thread() is not main_thread():
        yield
        return

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
                inputs, seen, _ = runnable(reference, lambda given: finite(reference, given))
            except TimeoutError:
                raise
            except Exception as error:
                return replace(row, reason=reason_of(error))
            paths = {call.path for call in (*seen.calls, *seen.others)}
            row = replace(row, inputs=described(inputs), attends=len(paths))
            return compared(row, model, reference, inputs, seen)
    except TimeoutError as error:
        return replace(row, reason=str(error))


def finite(reference: nn.Module, inputs: Inputs) -> Seen:
    """The library's eager pass.

    Raises:
        ValueError: if its weights are no numbers.
    """
    seen = eager(reference, inputs)
    if any(bool(call.weights.isnan().any()) for call in seen.calls):
        raise ValueError("the library's weights are NaN")
    return seen


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
                found = _trace(model, given)
            except Exception as error:
                raise MismatchError(f"{name}: trace raises {reason_of(error)}") from error
            try:
                checks[name], more = maps(found, expected, given, sinks_of(reference))
                off, said = outputs(found, untouched, expected.output, given)
                output = max(output, off)
                remarks += said
            except MismatchError as error:
                raise MismatchError(f"{name}: {error}") from error
            remarks += more
            hidden = unshown(found, expected, reference)
            window = window or windowed(expected, given)
            if checks[name] > AIM and disagree(found, untouched, expected.output, given):
                remarks.append(f"{name}: the library's own eager and fused attention differ")
                checks.pop(name)  # the output is that of the untouched model: the fused one's
                continue
            if checks[name] > AIM:
                rounding = inexact(reference, given, expected)
                if checks[name] < 4 * rounding < ROUNDING:
                    remarks.append(f"the library's float32 is {rounding:.0e} off its float64")
                    continue
                raise MismatchError(f"{name}: a weight differs by {checks[name]:.1e}")
            if output > 10 * AIM:
                raise MismatchError(
                    f"{name}: the output differs by {output:.1e} of its largest number"
                )
        checks["bfloat16"] = halved(model, reference, inputs, seen, remarks)
    except MismatchError as error:
        result = "broken"
        if "no attention on this input" in str(error) and not seen.calls:
            result = "refused"
        if UNSUPPORTED.search(str(error)):  # by the keyword and the module: a true reason
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
    classes = sorted({call.kind for call in seen.others} | seen.fused)
    if seen.calls:
        names = ", ".join(sorted({call.kind for call in seen.calls}))
        why = f"refused, though {names} uses the attention interface: {message}"
        return replace(row, result="broken", reason=why)
    if not classes:
        also = f" (softmax only in {', '.join(sorted(seen.elsewhere))})" if seen.elsewhere else ""
        return replace(row, result="refused", reason=f"no softmax attention weights{also}")
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
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        return model(**arguments(model, inputs))


def _trace(model: nn.Module, inputs: Inputs) -> Trace:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        return trace(model, inputs)


# --- comparisons ----------------------------------------------------------------------------------


def sinks_of(reference: nn.Module) -> frozenset[str]:
    """Paths of attention modules with a learned sink."""
    return frozenset(n for n, m in reference.named_modules() if hasattr(m, "sinks"))


def maps(
    found: Trace, expected: Seen, inputs: Inputs, sinks: frozenset[str] = frozenset()
) -> tuple[float, list[str]]:
    """Largest difference of any weight, and remarks.

    Raises:
        MismatchError: for a map without counterpart, or of another shape.
    """
    if not expected.calls:
        raise MismatchError("the trace has maps, the library's eager pass none")
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
                continue
            off = one_map(mine, theirs, inputs, item)
            if off > AIM and calls[0].path in sinks:
                off = one_map(mine / mine.sum(-1, keepdim=True), theirs, inputs, item)
                remarks.append("the library's eager weights leave the sink's share out")
            largest = max(largest, off)
    return largest, remarks


def of_site(found: Trace, site: Any, item: int) -> Tensor:
    """The weights of a site, `head query key`."""
    try:
        return found.weights(site, item=item)
    except Exception as error:
        raise MismatchError(
            f"layer {site.layer} {site.kind} item {item}: {reason_of(error)}"
        ) from error


def paired(found: Trace, calls: Sequence[Call]) -> Iterator[tuple[Any, list[Call]]]:
    """Each site with its calls of the library.

    Raises:
        MismatchError: if they cannot be told.
    """
    if len(found.sites) == len(calls):
        yield from ((site, [call]) for site, call in zip(found.sites, calls, strict=True))
        return
    by_path: dict[str, list[Call]] = {}
    for call in calls:
        by_path.setdefault(call.path, []).append(call)
    places = [getattr(site, "module", None) for site in found.sites]
    if all(place in by_path for place in places):
        yield from ((site, by_path[str(at)]) for site, at in zip(found.sites, places, strict=True))
        return
    if len(found.sites) != len(by_path):
        raise MismatchError(
            f"{len(found.sites)} maps for {len(calls)} calls of {len(by_path)} modules"
        )
    yield from zip(found.sites, by_path.values(), strict=True)


def items_of(site: Any, calls: Sequence[Call], items: int) -> Iterator[tuple[int, Tensor | None]]:
    """Each item with the library's map; None where it was computed in parts.

    Raises:
        MismatchError: if heads, rows or columns are not as many.
    """
    for call in calls:
        if call.weights.ndim != 4:
            raise MismatchError(
                f"{call.path}: the library's weights are {tuple(call.weights.shape)}"
            )
        if call.weights.shape[1] != site.heads:
            raise MismatchError(f"{call.path}: {call.weights.shape[1]} heads are {site.heads}")
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
        MismatchError: if rows or columns that the library uses are not shown.
    """
    theirs = theirs.float()
    rows = own(mine.shape[1], theirs.shape[1], inputs, item, theirs)
    keys = own(mine.shape[2], theirs.shape[2], inputs, item, theirs)
    if rows is None or keys is None:
        raise MismatchError(f"{tuple(mine.shape)} of the library's {tuple(theirs.shape)} are shown")
    part = theirs[:, rows][:, :, keys]
    empty = int(((mine.sum(-1) == 0) & (part.sum(-1) > 0)).any(0).sum())
    if empty:
        raise MismatchError(f"{empty} rows are drawn empty that the library fills")
    lost = float((theirs[:, rows].sum(-1) - part.sum(-1)).abs().max())
    if lost > AIM:
        raise MismatchError(f"columns that hold up to {lost:.1e} of a row are not shown")
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


def outputs(found: Trace, untouched: Any, expected: Any, inputs: Inputs) -> tuple[float, list[str]]:
    """Difference of the traced output to the untouched one, over the largest number in it.

    Some models of the library give other outputs with eager attention than with the fused one;
    then the eager one counts, and a remark says so.

    Raises:
        MismatchError: if the untouched model has no such output.
    """
    off = _output_off(found.output.values, untouched, inputs)
    if off <= 10 * AIM:
        return off, []
    own = _output_off(found.output.values, expected, inputs)
    if own > 10 * AIM:
        return off, []
    return own, [f"the library's own eager and fused attention differ: outputs by {off:.1e}"]


def disagree(found: Trace, untouched: Any, expected: Any, inputs: Inputs) -> bool:
    """Whether the trace gives the untouched output and the library's eager pass another."""
    mine = found.output.values
    near = _output_off(mine, untouched, inputs) <= 10 * AIM
    return near and _output_off(mine, expected, inputs) > 10 * AIM


def _output_off(mine: Tensor, out: Any, inputs: Inputs) -> float:
    best = None
    for theirs in tensors(out):
        if theirs.shape == mine.shape and theirs.is_floating_point():
            off, scale = (mine - theirs).abs(), theirs.abs()
            mask = inputs.get("attention_mask")
            if isinstance(mask, Tensor) and off.shape[:2] == mask.shape:
                off, scale = off[mask.bool()], scale[mask.bool()]
            here = float(off.nan_to_num(0.0).max()) / max(1.0, float(scale.nan_to_num(0.0).max()))
            best = here if best is None else min(best, here)
    if best is None:
        raise MismatchError(f"no output of the library is {tuple(mine.shape)}")
    return best


def unshown(found: Trace, expected: Seen, reference: nn.Module) -> tuple[str, ...]:
    """Classes whose attention bypasses the interface.

    Raises:
        MismatchError: if the trace does not say that it is not shown.
    """
    classes = tuple(sorted({call.kind for call in expected.others} | expected.fused))
    parts = {name: {name} for name in classes}
    for module in reference.modules():  # some put a part in while they run
        if type(module).__name__ in parts:
            parts[type(module).__name__] |= {type(part).__name__ for part in module.modules()}
    said = " ".join(found.notes).replace("Sdpa", "")  # the class of the same layer with eager
    silent = [name for name in classes if not any(part in said for part in parts[name])]
    if silent:
        raise MismatchError(f"softmax of {', '.join(silent)} is neither shown nor named")
    return classes


def windowed(expected: Seen, inputs: Inputs) -> bool:
    """Whether some row sees no more keys than a window, and others see as many."""
    for call in expected.calls:
        seen = (call.weights > 0).sum(-1)
        if call.weights.shape[-1] > 2 * WINDOW + 1 and int(seen.max()) <= 2 * WINDOW + 1:
            return True
    return False


def inexact(reference: nn.Module, inputs: Inputs, expected: Seen) -> float:
    """Largest difference of the library's own weights in float32 to those in float64."""
    try:
        exact = eager(reference.double(), _cast(inputs, torch.float64))
    except Exception:
        return 0.0
    finally:
        reference.float()
    return _between(exact, expected)


def _cast(inputs: Inputs, dtype: torch.dtype) -> Inputs:
    return {
        name: value.to(dtype) if isinstance(value, Tensor) and value.is_floating_point() else value
        for name, value in inputs.items()
    }


def _between(one: Seen, other: Seen) -> float:
    """Largest difference of weights between two passes."""
    return max(
        (
            float((a.weights.float() - b.weights.float()).abs().nan_to_num(0.0).max())
            for a, b in zip(one.calls, other.calls, strict=False)
            if a.weights.shape == b.weights.shape and a.weights.numel()
        ),
        default=0.0,
    )


def halved(
    model: nn.Module, reference: nn.Module, inputs: Inputs, whole: Seen, remarks: list[str]
) -> float:
    """Largest difference in bfloat16; no more than some times the library's own to float32.

    Raises:
        MismatchError: if it is larger.
    """
    model.to(torch.bfloat16)
    reference.to(torch.bfloat16)
    given = _cast(inputs, torch.bfloat16)
    try:
        expected = eager(reference, given)
        _run(model, given)
    except Exception as error:
        remarks.append(f"bfloat16: the library itself raises {reason_of(error):.80}")
        return 0.0
    rounding = _between(expected, whole)
    try:
        found = _trace(model, given)
        off, _ = maps(found, expected, given, sinks_of(reference))
    except MismatchError as error:
        raise MismatchError(f"bfloat16: {error}") from error
    except Exception as error:
        raise MismatchError(f"bfloat16: trace raises {reason_of(error)}") from error
    if off > max(0.05, 3 * rounding):
        raise MismatchError(
            f"bfloat16: off by {off:.1e}, the library from float32 by {rounding:.1e}"
        )
    return off


# --- the table ------------------------------------------------------------------------------------

HEAD = ["model type", "class", "result", "modules", "inputs", "checks", "weights", "output", "bf16"]
LETTERS = {"plain": "p", "right": "r", "left": "l", "alone": "a", "bfloat16": "b"}


def progress(row: Row) -> str:
    """One line while the benchmark runs."""
    numbers = f"{row.weights:.0e} {row.output:.0e}" if row.checks else ""
    return " ".join(part for part in (f"{row.result:8}", row.name, numbers, row.reason) if part)


def cells(row: Row) -> list[str]:
    """One line of the table."""
    first = [row.name, row.model, row.result, str(row.attends), row.inputs]
    if row.result != "exact":
        return [*first, "", "", "", row.reason]
    letters = "".join(LETTERS[name] for name in row.checks) + ("w" if row.window else "")
    half = f"{row.checks['bfloat16']:.0e}" if "bfloat16" in row.checks else "–"
    return [*first, letters, f"{row.weights:.1e}", f"{row.output:.1e}", half]


def in_order(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (FAMILIES.index(row.family), row.name))


def summary(rows: Sequence[Row]) -> str:
    """tried / exact / refused / broken, in one line."""
    count = Counter(row.result for row in rows)
    attempts = count.total() - count["untried"]
    attend = sum(row.attends > 0 for row in rows)
    worst = max((row.weights for row in rows if row.result == "exact"), default=0.0)
    return (
        f"{attempts} tried ({attend} attend) / {count['exact']} exact (largest difference"
        f" {worst:.1e}) / {count['refused']} refused / {count['broken']} broken"
    )


def document(rows: Sequence[Row], together: threads.Report) -> str:
    """docs/coverage.md."""
    exact = [row for row in in_order(rows) if row.result == "exact"]
    lines = [
        "# Model types of transformers that are traced",
        "",
        f"`python -m benchmarks.coverage --write` made this page with transformers"
        f" {version('transformers')} and torch {version('torch').partition('+')[0]}. It tries every"
        " model type of the library that can be built from its config without other packages:"
        " the default config is shrunk, the weights are drawn wide, and a batch of two goes"
        " through.",
        "",
        "- *weights*: the largest difference of any weight shown to the library's own eager"
        " attention, in float32, over all checks.",
        "- *output*: the largest difference of the traced output to that of the untouched model,"
        " over the largest number in it.",
        "- *bf16*: the largest difference of a weight in bfloat16, where the library itself rounds"
        " scores and weights to 8 bits.",
        "- *checks*: **p**lain, padded on the **r**ight, padded on the **l**eft, the second item"
        " **a**lone, **b**float16, a **w**indow shorter than the sequence. A check is left out"
        " where the model has no attention mask or its items cannot be told apart.",
        "- *modules*: attention modules the library's eager pass went through.",
        "",
        f"{summary(rows)}.",
        "",
    ]
    for family, group in groupby(exact, key=lambda row: row.family):
        lines += [f"## {family[0].upper()}{family[1:]}", "", *_exact_table(list(group)), ""]
    lines += _reasons(rows, "refused", "Refused", "why")
    lines += _reasons(rows, "broken", "Broken", "what differs")
    lines += _remarks(rows)
    lines += _untried(rows)
    lines += ["## At the same time", "", f"{threads.line(together)}.", ""]
    return "\n".join(lines)


def _exact_table(rows: Sequence[Row]) -> list[str]:
    head = [name for name in HEAD if name != "result"]
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    for row in rows:
        name, model, _, *others = cells(row)
        lines.append(f"| {' | '.join([name, model, *others])} |")
    return lines


def _reasons(rows: Sequence[Row], result: str, title: str, why: str) -> list[str]:
    chosen = [row for row in in_order(rows) if row.result == result]
    if not chosen:
        return []
    lines = [f"| {row.name} | {row.model} | {row.attends} | {row.reason} |" for row in chosen]
    head = [f"| model type | class | modules | {why} |", "|---|---|---|---|"]
    return [f"## {title}", "", *head, *lines, ""]


def _remarks(rows: Sequence[Row]) -> list[str]:
    lines = [
        f"| {row.name} | {'; '.join(row.remarks)}"
        f"{'; ' if row.remarks and row.hidden else ''}"
        f"{'not shown: ' + ', '.join(row.hidden) if row.hidden else ''} |"
        for row in in_order(rows)
        if row.result == "exact" and (row.remarks or row.hidden)
    ]
    return ["## Remarks", "", "| model type | remark |", "|---|---|", *lines, ""] if lines else []


def _untried(rows: Sequence[Row]) -> list[str]:
    chosen = [row for row in rows if row.result == "untried"]
    if not chosen:
        return []
    by_reason: dict[str, list[str]] = {}
    for row in chosen:
        by_reason.setdefault(_kind_of_reason(row.reason), []).append(row.name)
    lines = [f"- {why}: {', '.join(sorted(names))}." for why, names in sorted(by_reason.items())]
    return ["## Not tried", "", *lines, ""]


def _kind_of_reason(reason: str) -> str:
    if "no model class" in reason or "shares its config" in reason:
        return reason
    if "ImportError" in reason:
        return "needs a package that is not installed"
    if "took more than" in reason or "parameters are not tiny" in reason:
        return "cannot be built small"
    return "no config or no input is found by the general rules"


if __name__ == "__main__":
    sys.exit(main())

"""Tries one model type: builds it tiny, runs it and its variations, and compares."""

import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from threading import current_thread, main_thread
from typing import Any

import torch
from torch import nn

from benchmarks.coverage.axes import judged
from benchmarks.coverage.eager import SEED, Seen, arguments, eager
from benchmarks.coverage.judging import (
    AIM,
    MismatchError,
    between,
    cast,
    disagree,
    inexact,
    maps,
    output_apart,
    sees_padding,
    sinks_of,
    unshown,
    windowed,
)
from benchmarks.coverage.model_inputs import Inputs, alone, padded, runnable
from benchmarks.coverage.tiny import ModelType, build, quiet, reason_of
from models.pretrained.loader import OTHERS
from models.run import Trace, load, trace

ROUNDING = 0.1  # the library's own, of a deep network: above it nothing can be concluded
UNSUPPORTED = re.compile(r"\(\S+\) passes its attention \S+, which is not supported")
DISAGREE = "the library's own eager and fused attention differ: compared with the fused one"
SECONDS = 60  # of the processor, for one model type


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
        named: what its axes name, that changes of the input confirm: "patch", "frame", "text",
            "target".
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
    named: tuple[str, ...] = ()

    @property
    def weights(self) -> float:
        """Largest difference of a weight in float32."""
        return max((v for k, v in self.checks.items() if k != "bfloat16"), default=0.0)


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raises TimeoutError inside after so many seconds of processor time, where there is a clock.

    The processor's time, since other programs may share it.
    """
    if not hasattr(signal, "setitimer") or current_thread() is not main_thread():
        yield
        return

    def ring(*_: Any) -> None:
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def tried(kind: ModelType) -> Row:
    """One model type, built and compared; what goes wrong is in the row."""
    row = Row(kind.name, kind.family, kind.model.__name__)
    try:
        with limited(SECONDS), quiet():
            try:
                model, reference, inputs, seen = running(kind)
            except TimeoutError:
                raise
            except Exception as error:
                return replace(row, reason=reason_of(error))
            paths = {call.path for call in (*seen.calls, *seen.others)}
            row = replace(row, inputs=described(inputs), attends=len(paths))
            return compared(row, model, reference, inputs, seen)
    except TimeoutError as error:
        return replace(row, reason=str(error))


def running(kind: ModelType) -> tuple[nn.Module, nn.Module, Inputs, Seen]:
    """A model of the type and its eager twin, inputs that it runs, and what that pass left.

    A model whose parts do not fit once every width is small is built with its own widths.

    Raises:
        Exception: what the model with small widths raises, where the other does not run either.
    """
    first: Exception | None = None
    for widths in (True, False):
        try:
            model, reference = build(kind, widths=widths)
            inputs, seen, _ = runnable(reference, partial(finite, reference))
            return model, reference, inputs, seen
        except TimeoutError:
            raise
        except Exception as error:
            first = first or error
    assert first is not None
    raise first


def finite(reference: nn.Module, inputs: Inputs) -> Seen:
    """The library's eager pass.

    Raises:
        ValueError: if its weights are no numbers.
    """
    seen = eager(reference, inputs)
    if not_numbers(seen):
        raise ValueError("the library's weights are NaN")
    return seen


def not_numbers(seen: Seen) -> bool:
    return any(bool(call.weights.isnan().any()) for call in seen.calls)


def described(inputs: Inputs) -> str:
    """Names of the inputs, without those that only describe others."""
    beside = ("mask", "_thw", "_hws", "sizes", "shapes", "type_ids", "position_ids", "bbox")
    names = [n for n in inputs if not any(part in n for part in beside)]
    return ", ".join(names)


@dataclass(eq=False)
class _Outcome:
    """What the checks of one model type have found so far; fields as in `Row`."""

    checks: dict[str, float] = field(default_factory=dict)
    output: float = 0.0
    remarks: list[str] = field(default_factory=list)
    hidden: tuple[str, ...] = ()
    window: bool = False
    named: tuple[str, ...] = ()


def compared(row: Row, model: nn.Module, reference: nn.Module, inputs: Inputs, seen: Seen) -> Row:
    """The row of a type that runs."""
    try:
        load(model)
    except ValueError as error:
        return refused(row, seen, str(error))
    outcome, result, reason = _Outcome(), "exact", ""
    try:
        for name, given in variations(inputs):
            _check(outcome, name, given, model, reference, seen if name == "plain" else None)
        outcome.named = named(model, inputs)
        outcome.checks.update(halved(model, reference, inputs, seen, outcome.remarks))
    except MismatchError as error:
        result, reason = "broken", str(error)
        nothing = "no attention on this input" in reason and not seen.calls
        if nothing or UNSUPPORTED.search(reason):  # by the keyword and the module: a true reason
            result, reason = "refused", reason.partition("ValueError: ")[2] or reason
    except TimeoutError:
        raise
    except Exception as error:
        result, reason = "broken", f"trace: {reason_of(error)}"
    return replace(
        row,
        result=result,
        reason=reason,
        checks=outcome.checks,
        output=outcome.output,
        remarks=tuple(dict.fromkeys(outcome.remarks)),
        hidden=outcome.hidden,
        window=outcome.window,
        named=outcome.named,
    )


def named(model: nn.Module, inputs: Inputs) -> tuple[str, ...]:
    """What the axes of the trace name: the tokens that change with these parts of the input.

    Raises:
        MismatchError: if another token changes than the one that is named.
    """
    verdict = judged(model, inputs)
    if verdict.wrong:
        raise MismatchError(f"{len(verdict.wrong)} of {verdict.axes} axes: {verdict.wrong[0]}")
    return verdict.kinds


def _check(
    outcome: _Outcome,
    name: str,
    given: Inputs,
    model: nn.Module,
    reference: nn.Module,
    seen: Seen | None,
) -> None:
    """One variation in float32.

    Raises:
        MismatchError: for a difference that is no rounding error.
    """
    traced = _traced(model, given)  # first: the library adapts some models as they run
    try:
        expected = eager(reference, given) if seen is None else seen
        untouched = _run(model, given)
    except Exception as error:
        outcome.remarks.append(f"{name}: the library itself raises {reason_of(error):.80}")
        return
    if isinstance(traced, Exception):
        if "attends to padding" in str(traced) and sees_padding(expected, given):
            outcome.remarks.append(f"{name}: refused, since real tokens attend to padding")
            return
        raise MismatchError(f"{name}: trace raises {reason_of(traced)}") from traced
    try:
        outcome.hidden = unshown(traced, expected, reference)
        if disagree(traced, untouched, expected, given):
            outcome.remarks.append(f"{name}: {DISAGREE}")
            expected = eager(model, given)
        weights, remarks = maps(traced, expected, given, sinks_of(reference))
        output = output_apart(traced, untouched, expected, given)
    except MismatchError as error:
        raise MismatchError(f"{name}: {error}") from error
    outcome.output = max(outcome.output, output)
    outcome.remarks += remarks
    outcome.window = outcome.window or windowed(expected, given)
    outcome.checks[name] = weights
    if weights > AIM:
        rounding = inexact(reference, given, expected)
        if not weights < 4 * rounding < ROUNDING:
            raise MismatchError(f"{name}: a weight differs by {weights:.1e}")
        outcome.remarks.append(f"the library's float32 is {rounding:.0e} off its float64")
    elif output > 10 * AIM:
        raise MismatchError(f"{name}: the output differs by {output:.1e} of its largest number")


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
    why = message.partition(": ")[2] or message
    return replace(row, result="refused", reason=why.removesuffix(f". {OTHERS}"))


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


def _traced(model: nn.Module, inputs: Inputs) -> Trace | Exception:
    """The trace, or why there is none."""
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(SEED)
            return trace(model, inputs)
    except TimeoutError:
        raise
    except Exception as error:
        return error


def halved(
    model: nn.Module, reference: nn.Module, inputs: Inputs, whole: Seen, remarks: list[str]
) -> dict[str, float]:
    """Largest difference in bfloat16; no more than some times the library's own to float32.

    Where the library's eager and fused passes differ (a choice of keys or experts between nearly
    equal scores), that of the fused one counts: the trace has its output.

    Raises:
        MismatchError: if it is larger.
    """
    model.to(torch.bfloat16)
    reference.to(torch.bfloat16)
    given = cast(inputs, torch.bfloat16)
    try:
        expected = eager(reference, given)
        fused = eager(model, given)
    except Exception as error:
        remarks.append(f"bfloat16: the library itself raises {reason_of(error):.80}")
        return {}
    if not_numbers(expected) or not_numbers(fused):
        remarks.append("bfloat16: the library's weights are NaN")
        return {}
    rounding = between(expected, whole)
    traced = _traced(model, given)
    if isinstance(traced, Exception):
        raise MismatchError(f"bfloat16: trace raises {reason_of(traced)}") from traced
    try:
        off, _ = maps(traced, expected, given, sinks_of(reference))
        if off > max(0.05, 3 * rounding) and disagree(traced, fused.output, expected, given):
            remarks.append(f"bfloat16: {DISAGREE}")
            off, _ = maps(traced, fused, given)
    except MismatchError as error:
        raise MismatchError(f"bfloat16: {error}") from error
    if off > max(0.05, 3 * rounding):
        raise MismatchError(
            f"bfloat16: off by {off:.1e}, the library from float32 by {rounding:.1e}"
        )
    return {"bfloat16": off}

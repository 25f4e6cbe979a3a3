"""The table of model types, and docs/coverage.md."""

import re
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from itertools import groupby

from benchmarks import threads
from benchmarks.coverage.tiny import FAMILIES
from benchmarks.coverage.trying import Row

HEAD = ["model type", "class", "result", "modules", "inputs", "axes", "checks", "weights", "output"]
HEAD += ["bf16"]
LETTERS = {"plain": "p", "right": "r", "left": "l", "alone": "a", "bfloat16": "b"}


def progress(row: Row) -> str:
    """One line while the benchmark runs."""
    numbers = f"{row.weights:.0e} {row.output:.0e}" if row.checks else ""
    return " ".join(part for part in (f"{row.result:8}", row.name, numbers, row.reason) if part)


def cells(row: Row) -> list[str]:
    """One line of the table."""
    first = [row.name, row.model, row.result, str(row.attends), row.inputs]
    if row.result != "exact":
        return [*first, "", "", "", "", row.reason]
    letters = "".join(LETTERS[name] for name in row.checks) + ("w" if row.window else "")
    half = f"{row.checks['bfloat16']:.0e}" if "bfloat16" in row.checks else "–"
    axes = ", ".join(row.named) or "–"
    return [*first, axes, letters, f"{row.weights:.1e}", f"{row.output:.1e}", half]


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
        "- *axes*: what the labels name. All attention ablated, one patch, frame or id of the input"
        " is changed: the token that changes is the one that is labelled so. A dash: the axes are"
        " numbered, and no grid is drawn.",
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
    package = re.search(r"requires the (\w+) library", reason)
    if package:
        return f"needs {package[1]}, which is not installed"
    if "took more than" in reason or "parameters are not tiny" in reason:
        return "cannot be built small"
    return reason

"""Mutation testing: small changes to the code of attention that no test notices.

    pip install cosmic-ray coverage
    python -m benchmarks.mutation [--only models/attention] [--minutes 60] [--json FILE] [--write]

The changes (mutants) are those of Cosmic Ray's operators: a number one larger or smaller, another
comparison or arithmetic operator, a condition negated, a loop left out, a decorator removed. One
pass of the tests under coverage tells which tests execute each line; a mutant is tried by these
tests, fastest first, and is killed by the first that fails. Trials are forks of one process that
has collected the tests: the changed functions get their new code in the fork, so that a trial takes
as long as its tests. Changes outside of functions are tried in a new process, which imports them.

Mutants are tried in the order of a hash, so that those within the time limit are a fair sample.
Survivors that cannot matter are explained in mutation_explained.toml. `--write` puts the result
into docs/mutation.md.
"""

import argparse
import ast
import gc
import hashlib
import inspect
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from importlib import import_module, invalidate_caches
from importlib.abc import SourceLoader
from importlib.machinery import SourceFileLoader
from itertools import groupby
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
DOC = ROOT / "docs" / "mutation.md"
EXPLAINED = Path(__file__).with_name("mutation_explained.toml")
# Tests that look at every class and signature.
LOOKING = ("tests/models/test_values.py", "tests/models/test_arguments.py")
CODE = {  # packages and the tests of each
    "models/attention": (
        *("tests/models/attention", "tests/models/pretrained/test_projections.py"),
        *("tests/models/test_edits.py", "tests/models/test_trace.py"),
        *("tests/models/test_shapes.py", *LOOKING),
    ),
    "models/pretrained": (
        *("tests/models/pretrained", "tests/models/inputs"),
        *("tests/models/test_run.py", *LOOKING),
        *("tests/models/files/test_folder.py", "tests/models/test_run_family.py"),
        *("tests/analysis/test_relevance.py", "tests/analysis/test_split.py"),
    ),
}
ANEW = """
import signal, sys
from pathlib import Path
import pytest
from benchmarks.mutation import serve
signal.setitimer(signal.ITIMER_PROF, 300)
signal.alarm(6000)
path, changed, *options = sys.argv[1:]
serve(path, Path(changed).read_bytes())
sys.exit(pytest.main(options))
"""
SECONDS = 10.0  # of tests for one mutant, as measured under coverage
OPERATORS = (
    *("AddNot", "NumberReplacer", "ZeroIterationForLoop", "ExceptionReplacer", "RemoveDecorator"),
    *("ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak"),
    *("ReplaceUnaryOperator_USub_UAdd", "ReplaceUnaryOperator_Delete_Not"),
    *("ReplaceUnaryOperator_Delete_Invert",),
    *(
        f"ReplaceBinaryOperator_{pair}"
        for pair in (
            *("Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "Pow_Mul"),
            *("BitOr_BitAnd", "BitAnd_BitOr"),
        )
    ),
    *(
        f"ReplaceComparisonOperator_{pair}"
        for pair in (
            *("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is"),
            *("Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt"),
        )
    ),
)


@dataclass(frozen=True)
class Mutant:
    """One change of one line.

    Attributes:
        path: of the file, from the project's folder.
        line: number of the line.
        operator: Cosmic Ray's name of the operator.
        occurrence: which of the places where the operator applies to the file.
        before: the line as it is.
        after: the line as changed; "" where it is removed, and before the trial.
        result: "killed", "survived", "uncovered" (no test executes the line), "equal" (the compiler
            makes the same of both) or "untried" (the time was over).
        by: the test that noticed, or "time limit".
    """

    path: str
    line: int
    operator: str
    occurrence: int
    before: str
    after: str = ""
    result: str = "untried"
    by: str = ""

    @property
    def change(self) -> tuple[str, str, str]:
        """File, line before and after: what identifies a tried mutant when lines move."""
        return self.path, self.before, self.after

    def lines(self) -> range:
        """The lines whose tests try it.

        Those of its statement, of a compound one those of its header. Outside of functions, where
        an import alone executes it, those of the function or class that it is part of; none where
        it is part of neither.
        """
        defined = _definitions(self.path)
        if any(each.function and self.line in each.body for each in defined):
            around = [lines for lines in _statements(self.path) if self.line in lines]
        else:
            around = [each.body for each in defined if self.line in each.header]
            around = around or [each.body for each in defined if self.line in each.body]
        return max(around, key=lambda lines: lines.start, default=range(0))

    def source(self) -> tuple[str, str]:
        """The source of the file as it is and as changed."""
        before = Path(self.path).read_text(encoding="utf-8")
        mutating = import_module("cosmic_ray.mutating")
        after = mutating.mutate_code(before, operator_of(self.operator), self.occurrence)
        return before, after or before


Key = tuple[str, str, str, int]


def keyed(mutants: Iterable[Mutant]) -> dict[Key, Mutant]:
    """Mutants by file, line, operator, and which of its places on such lines of the file.

    A key holds when other lines move; it needs all mutants of a line.
    """
    counts: Counter[tuple[str, str, str]] = Counter()
    found: dict[Key, Mutant] = {}
    for each in sorted(mutants, key=lambda mutant: mutant.occurrence):
        same = each.path, each.before, each.operator
        found[*same, counts[same]] = each
        counts[same] += 1
    return found


@dataclass(frozen=True)
class Found:
    """The result of a run.

    Attributes:
        numbers: seconds of wall time and of processor time, over all runs.
        mutants: each with its result.
    """

    numbers: dict[str, float]
    mutants: list[Mutant]

    @staticmethod
    def read(paths: Sequence[Path]) -> "Found":
        """Merges the files of several runs; later results replace earlier ones of a mutant."""
        total: Counter[str] = Counter()
        merged: dict[Key, Mutant] = {}
        for path in paths:
            read = json.loads(path.read_text(encoding="utf-8"))
            total.update(read["numbers"])
            for key, mutant in keyed(Mutant(**each) for each in read["mutants"]).items():
                if mutant.result != "untried" or key not in merged:
                    merged[key] = mutant
        return Found(dict(total), [*merged.values()])

    def applied_to(self, mutants: Iterable[Mutant]) -> list[Mutant]:
        """Mutants of the code as it is, each with its result where its line is as it was."""
        known = keyed(self.mutants)
        return [
            replace(each, after=known[key].after, result=known[key].result, by=known[key].by)
            if key in known
            else each
            for key, each in keyed(mutants).items()
        ]

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Tries the mutants and prints the survivors. Returns 1 if one is not explained."""
    options = parse(arguments)
    os.chdir(ROOT)
    known = Found.read([*options.merge, *options.again])
    found = replace(known, mutants=in_order(known.applied_to(chosen(options))))
    explained = explanations()
    if not options.merge:
        found = tried(found, options, explained)
    if options.json:
        found.write(options.json)
    text = document(found, explained)
    if options.write:
        DOC.write_text(text, encoding="utf-8")
    print(text)
    return int(any(mutant.change not in explained for mutant in survivors(found.mutants)))


def tried(
    known: Found, options: argparse.Namespace, explained: Container[tuple[str, str, str]]
) -> Found:
    """The mutants with their results: open survivors of earlier runs first, then untried ones.

    Raises:
        RuntimeError: if the tests cannot be collected.
    """
    os.environ |= {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    sys.dont_write_bytecode = True
    again = [m for m in survivors(known.mutants) if m.change not in explained]
    pending = [*again, *(m for m in known.mutants if m.result == "untried")]
    packages = {package for package in CODE for each in pending if each.path.startswith(package)}
    tests = sorted({test for package in packages for test in CODE[package]})
    trials = Trials(pending, options.processes, 60 * options.minutes, options.tests)
    status = pytest.main(pytest_options(tests), plugins=[trials])
    if status != pytest.ExitCode.OK:
        raise RuntimeError(f"the tests could not be collected: pytest returned {status}")
    total = Counter(known.numbers)
    total.update(trials.numbers)
    places = {(m.path, m.operator, m.occurrence): m for m in trials.results}
    mutants = [places.get((m.path, m.operator, m.occurrence), m) for m in known.mutants]
    return Found(dict(total), mutants)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description="Changes to the code that no test notices.")
    parser.add_argument("--only", nargs="+", default=[*CODE], help="files or folders to change")
    parser.add_argument("--minutes", type=float, default=60.0, help="for all trials")
    parser.add_argument("--processes", type=int, default=2, help="trials at a time")
    parser.add_argument("--json", type=Path, help="write every mutant to this file")
    parser.add_argument(
        "--tests", type=Path, help="file that keeps what each test executes; made where missing"
    )
    parser.add_argument(
        "--again",
        nargs="+",
        default=[],
        type=Path,
        help="go on from files of --json: open survivors first, then what is untried",
    )
    parser.add_argument(
        "--merge", nargs="+", default=[], type=Path, help="report files of --json; run nothing"
    )
    parser.add_argument("--write", action="store_true", help="write docs/mutation.md")
    return parser.parse_args(arguments)


def pytest_options(tests: Iterable[str]) -> list[str]:
    return ["-q", "-s", "-p", "no:cacheprovider", "-m", "not browser", *tests]


# --- mutants -----------------------------------------------------------------------------------


def chosen(options: argparse.Namespace) -> list[Mutant]:
    """The mutants of the files in the options."""
    files = [
        file
        for each in map(Path, options.only)
        for file in (sorted(each.rglob("*.py")) if each.is_dir() else [each])
    ]
    return [mutant for file in files for mutant in mutants_of(file.as_posix())]


def in_order(mutants: Iterable[Mutant]) -> list[Mutant]:
    """In the order of a hash of what identifies a mutant."""

    def place(pair: tuple[Key, Mutant]) -> bytes:
        return hashlib.sha256(repr(pair[0]).encode()).digest()

    return [mutant for _, mutant in sorted(keyed(mutants).items(), key=place)]


def mutants_of(path: str) -> Iterator[Mutant]:
    """The mutants of a file, annotations left out."""
    trees = import_module("cosmic_ray.ast")
    source = Path(path).read_text(encoding="utf-8")
    lines, ignored = source.splitlines(), [*_annotations(source)]
    nodes = [*trees.ast_nodes(trees.get_ast(source))]
    for name in OPERATORS:
        operator = operator_of(name)
        places = [place for node in nodes for place in operator.mutation_positions(node)]
        for occurrence, (start, _) in enumerate(places):
            if not any(first <= start < last for first, last in ignored):
                yield Mutant(path, start[0], name, occurrence, lines[start[0] - 1].strip())


def operator_of(name: str) -> Any:
    """One of Cosmic Ray's operators."""
    return import_module("cosmic_ray.plugins").get_operator(f"core/{name}")()


@lru_cache
def _statements(path: str) -> list[range]:
    """The lines of each statement of a file; of a compound one those before its body."""
    found = []
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            found.append(range(node.lineno, max(last, node.lineno) + 1))
    return found


class _Definition(NamedTuple):
    """The lines of a function or class; its decorators belong to its header."""

    function: bool
    header: range
    body: range


@lru_cache
def _definitions(path: str) -> list[_Definition]:
    found = []
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min(each.lineno for each in (node, *node.decorator_list))
            body = range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1)
            header = range(first, max(body.start, node.lineno + 1))
            found.append(_Definition(not isinstance(node, ast.ClassDef), header, body))
    return found


Position = tuple[int, int]


def _annotations(source: str) -> Iterator[tuple[Position, Position]]:
    """Where annotations start and end: line and column."""
    for node in ast.walk(ast.parse(source)):
        for name in ("annotation", "returns"):
            found = getattr(node, name, None)
            if isinstance(found, ast.expr):
                end = found.end_lineno or found.lineno, found.end_col_offset or 0
                yield (found.lineno, found.col_offset), end


def _changed_line(before: str, after: str) -> str:
    """The first line that differs, as changed; "" where lines are missing."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) != len(new):
        return ""
    line = next((b for a, b in zip(old, new, strict=True) if a != b), "").strip()
    return re.sub(r"((?<=[(\[])|(?<=\w=)) (?=-?\d)", "", line)  # of a new number


# --- trials ------------------------------------------------------------------------------------


class Trials:
    """A pytest plugin that tries mutants in place of running the collected tests once.

    Attributes:
        results: every mutant with its result.
        numbers: seconds of wall time and of processor time, and the number of tests.
    """

    def __init__(
        self,
        mutants: Sequence[Mutant],
        processes: int,
        seconds: float,
        measured: Path | None = None,
    ) -> None:
        self.mutants = mutants
        self.measured = measured
        self.processes = processes
        self.seconds = seconds
        self.results: list[Mutant] = []
        self.numbers: dict[str, float] = {}
        self.failed = ""

    @pytest.hookimpl
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Measures the tests in a fork, then tries each mutant in a fork of its own."""
        start = time.perf_counter()
        tests = self._measured(session).among(session.items)
        warm([*tests.modules, *(module_of(mutant.path) for mutant in self.mutants)])
        functions = live_functions({m.path for m in self.mutants})
        pending, running = list(self.mutants), {}
        with tempfile.TemporaryDirectory() as folder:
            while pending or running:
                spent = time.perf_counter() - start
                while pending and len(running) < self.processes and spent < self.seconds:
                    mutant = pending.pop(0)
                    ids = tests.of(mutant)
                    if not ids:
                        self._finish(replace(mutant, result="uncovered"))
                        continue
                    answer = Path(folder, f"{len(pending)}.json")
                    limit = 10 + 3 * sum(tests.seconds[each] for each in ids)
                    trial = Trial(mutant, ids, functions, session, self)
                    running[in_fork(trial.run, answer, limit)] = mutant, answer
                if not running:
                    break
                mutant, answer = running.pop(os.wait()[0])
                text = answer.read_text() if answer.exists() else ""
                found = json.loads(text) if text else {"result": "killed", "by": "time limit"}
                self._finish(replace(mutant, **found))
        self.results += pending
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.numbers = {
            "seconds": time.perf_counter() - start,
            "processor seconds": children.ru_utime + children.ru_stime,
            "tests": len(tests.seconds),
        }
        return True

    def _finish(self, mutant: Mutant) -> None:
        self.results.append(mutant)
        line = f"{mutant.result:9} {mutant.path}:{mutant.line} {mutant.before} → {mutant.after}"
        print(len(self.results), line, mutant.by, file=sys.stderr, flush=True)

    def _measured(self, session: pytest.Session) -> "Measured":
        """Runs every test under coverage; those that fail as things are do not count."""
        paths = sorted({mutant.path for mutant in self.mutants})

        def measure() -> dict[str, Any]:
            measured = import_module("coverage").Coverage(
                data_file=None, include=[str(ROOT / path) for path in paths]
            )
            seconds = {}
            measured.start()
            for item, after in with_next(session.items):
                measured.switch_context(item.nodeid)
                self.failed, begun = "", time.process_time()
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
                if not self.failed:
                    seconds[item.nodeid] = time.process_time() - begun
            measured.stop()
            data = measured.get_data()
            return {
                "seconds": seconds,
                "lines": {p: data.contexts_by_lineno(str(ROOT / p)) for p in paths},
                "modules": [name for name in sys.modules if name.startswith("transformers.models")],
            }

        with tempfile.TemporaryDirectory() as folder:
            answer = self.measured or Path(folder, "tests.json")
            if not answer.exists():
                os.waitpid(in_fork(measure, answer, 3600), 0)
            return Measured(**json.loads(answer.read_text()))


@dataclass(frozen=True)
class Measured:
    """What one pass of the tests under coverage tells.

    Attributes:
        seconds: of each test that passes.
        lines: tests that execute each line of each file.
        modules: of transformers that they import.
    """

    seconds: dict[str, float]
    lines: dict[str, dict[str, list[str]]]
    modules: list[str]

    def among(self, items: Sequence[pytest.Item]) -> "Measured":
        """Without tests that were not collected."""
        seconds = {i.nodeid: self.seconds[i.nodeid] for i in items if i.nodeid in self.seconds}
        return replace(self, seconds=seconds)

    def of(self, mutant: Mutant) -> list[str]:
        """The tests of a mutant, `SECONDS` in all.

        Those in files of its file's name come first; of these and of the others, the fastest case
        of each function. What an import executes counts for no test: the first one that needs a
        file would have executed all of its definitions.
        What no test of its own executes is tried by the tests of its file. Outside of functions,
        those that look at every class and signature follow.
        """
        inside = {n for each in _definitions(mutant.path) if each.function for n in each.body}
        lines = {int(n): some for n, some in self.lines[mutant.path].items() if int(n) in inside}
        here = [each for line in mutant.lines() for each in lines.get(line, ())]
        here = here or [each for some in lines.values() for each in some]
        if not lines:  # a file of types
            here = [*self.seconds]
        looking = [each for each in self.seconds if each.startswith(LOOKING)]
        at_last = [] if mutant.line in inside else looking
        known = sorted(
            ({*here} & self.seconds.keys()).difference(at_last),
            key=lambda each: self.seconds[each],
        )
        own = f"/test_{Path(mutant.path).stem}"
        cases: Counter[str] = Counter()
        order: list[tuple[bool, int, str]] = []
        for each in known:
            function = each.partition("[")[0]
            order.append((own not in function, cases[function], each))
            cases[function] += 1
        spent, found = 0.0, []
        for _, _, each in sorted(order, key=lambda one: one[:2]):
            spent += self.seconds[each]
            if found and spent > SECONDS:
                break
            found.append(each)
        return [*found, *at_last]


@dataclass
class Trial:
    """The trial of a mutant in a fork: `run` may leave anything behind."""

    mutant: Mutant
    ids: Sequence[str]
    functions: Sequence[FunctionType]
    session: pytest.Session
    trials: Trials

    def run(self) -> dict[str, str]:
        """The result, and what noticed it."""
        mutant = self.mutant
        original, source = mutant.source()
        found = {"after": _changed_line(original, source)}
        name = module_of(mutant.path)
        loader = sys.modules[name].__loader__
        assert isinstance(loader, SourceLoader)
        before = loader.get_code(name)
        try:
            after = loader.source_to_code(source.encode(), str(ROOT / mutant.path))
        except SyntaxError:
            return found | {"result": "killed", "by": "syntax"}
        assert isinstance(before, CodeType)
        if before == after:
            return found | {"result": "equal"}
        if not replace_code(self.functions, before, after):
            return found | self._reloaded(source)
        wanted = set(self.ids)
        items = {i.nodeid: i for i in self.session.items if i.nodeid in wanted}
        for item, following in with_next([items[each] for each in self.ids]):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.trials.failed:
                return found | {"result": "killed", "by": self.trials.failed}
        return found | {"result": "survived"}

    def _reloaded(self, source: str) -> dict[str, str]:
        """Runs the tests in a new process, whose imports read the changed file.

        Imported twice in one process, classes would be others than those that beartype looked up
        for annotations the first time.
        """
        with tempfile.TemporaryDirectory() as folder:
            changed = Path(folder, "changed.py")
            changed.write_text(source, encoding="utf-8")
            given = [str(ROOT / self.mutant.path), str(changed), "-x", *pytest_options(self.ids)]
            command = [sys.executable, "-c", ANEW, *given]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == pytest.ExitCode.OK:
            return {"result": "survived"}
        if done.returncode in (-signal.SIGPROF, -signal.SIGALRM):
            return {"result": "killed", "by": "time limit"}
        found = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - |$)", done.stdout, re.MULTILINE)
        return {"result": "killed", "by": found[1] if found else "import"}


def in_fork(work: Callable[[], Any], answer: Path, seconds: float) -> int:
    """Starts work in a fork, which writes its result as JSON; returns the process's id.

    Args:
        work: what to do.
        answer: the file; it is missing if the time limit ends the fork.
        seconds: the limit of processor time; 20 times as much of wall time.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process:
        return process
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.setitimer(signal.ITIMER_REAL, 20 * seconds)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        found = json.dumps(work())
        answer.write_text(found, encoding="utf-8")
    except BaseException as error:
        answer.write_text(json.dumps({"by": repr(error)}), encoding="utf-8")
    finally:
        os._exit(0)


def with_next(items: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Each item and the one after it; None after the last."""
    return zip(items, [*items[1:], None], strict=True)


# --- code --------------------------------------------------------------------------------------


def module_of(path: str) -> str:
    """The name of the module in a file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def warm(modules: Iterable[str]) -> None:
    """Imports what the tests will import, once for all forks."""
    with warnings.catch_warnings(action="ignore"):
        for name in dict.fromkeys(modules):
            with suppress(Exception):  # not a module of its own
                import_module(name)


def live_functions(paths: Iterable[str]) -> list[FunctionType]:
    """Every function that was made from these files, whatever wraps it."""
    files = {str(ROOT / path) for path in paths}
    gc.unfreeze()  # tests/conftest.py hides what collection left
    found = [
        each
        for each in gc.get_objects()
        if type(each) is FunctionType and each.__code__.co_filename in files
    ]
    gc.freeze()
    return found


def replace_code(functions: Sequence[FunctionType], before: CodeType, after: CodeType) -> bool:
    """Gives functions their new code; False if the change is not within functions alone."""
    pairs = [*zip(_codes(before), _codes(after), strict=False)]
    bodies = [pair for pair in pairs if not pair[0].co_flags & inspect.CO_OPTIMIZED]
    if any(_outline(old) != _outline(new) for old, new in bodies):
        return False
    changed = {old: new for old, new in pairs if old != new}
    try:
        found = [each for each in functions if each.__code__ in changed]
        for each in found:
            each.__code__ = changed[each.__code__]
    except ValueError:  # other free variables
        return False
    return bool(found)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _outline(code: CodeType) -> tuple[Any, ...]:
    """What a module's or class's body does itself."""
    own = tuple(repr(each) for each in code.co_consts if not isinstance(each, CodeType))
    return code.co_code, code.co_names, own


def serve(path: str, source: bytes) -> None:
    """Imports of a file get this source from now on, and no bytecode of the old one."""
    read, stats = SourceFileLoader.get_data, SourceFileLoader.path_stats

    def get_data(self: SourceFileLoader, name: str) -> bytes:
        return source if name == path else read(self, name)

    def path_stats(self: SourceFileLoader, name: str) -> Any:
        if name == path:
            raise OSError("changed")
        return stats(self, name)

    SourceFileLoader.get_data = get_data  # type: ignore[method-assign]
    SourceFileLoader.path_stats = path_stats  # type: ignore[method-assign]
    invalidate_caches()


# --- report ------------------------------------------------------------------------------------


def explanations() -> dict[tuple[str, str, str], str]:
    """Why a surviving change cannot matter, by file, line before and after."""
    found = tomllib.loads(EXPLAINED.read_text(encoding="utf-8")) if EXPLAINED.exists() else {}
    return {
        (each["path"], each["before"], each["after"]): each["why"]
        for each in found.get("survivor", [])
    }


def document(found: Found, explained: dict[tuple[str, str, str], str]) -> str:
    """The report in Markdown."""
    mutants, numbers = found.mutants, found.numbers
    counts = Counter(mutant.result for mutant in mutants)
    left = sorted(survivors(mutants), key=lambda m: (m.path, m.line, m.after))
    open_ones = [m for m in left if m.change not in explained]
    lines = [
        INTRODUCTION,
        f"{len(mutants) - counts['untried']:,} of {len(mutants):,} mutants were tried, in the order"
        f" of a hash: {counts['killed']:,} killed, {counts['equal']} the same to the compiler,"
        f" {len(left)} survived, of which {len(left) - len(open_ones)} cannot matter and"
        f" {len(open_ones)} are open.",
        f"Wall time {numbers['seconds'] / 60:.0f} min, processor time"
        f" {numbers['processor seconds'] / 60:.0f} min.",
        "| file | tried | killed | survived |\n| --- | ---: | ---: | ---: |",
    ]
    for path in sorted({mutant.path for mutant in mutants}):
        each = Counter(m.result for m in mutants if m.path == path)
        tried = sum(each.values()) - each["untried"] - each["equal"]
        lines[-1] += f"\n| {path} | {tried} | {each['killed']} | {tried - each['killed']} |"
    for path, some in groupby(left, lambda mutant: mutant.path):
        lines.append(f"## {path}")
        lines.append("\n".join(_described(each, explained) for each in some))
    return "\n\n".join(lines) + "\n"


def survivors(mutants: Iterable[Mutant]) -> list[Mutant]:
    return [mutant for mutant in mutants if mutant.result in ("survived", "uncovered")]


def _described(mutant: Mutant, explained: dict[tuple[str, str, str], str]) -> str:
    why = explained.get(mutant.change, "**open**")
    after = f"`{mutant.after}`" if mutant.after else "removed"
    return f"- line {mutant.line}: `{mutant.before}` → {after}: {why}"


INTRODUCTION = """# Mutation testing of attention

What `python -m benchmarks.mutation --write` found: small changes to the code of `models/attention`
and `models/pretrained` (the operators of Cosmic Ray), and whether a test notices. A survivor is
killed by a test, removed with code that is not needed, or explained here; **open** is one that
waits for either. `--again` goes on from an earlier run: its open survivors are tried against the
tests as they are, then mutants that no run has tried."""


if __name__ == "__main__":
    sys.exit(main())

"""Mutation testing: functions get new code, tests are chosen, results are merged and reported."""

from dataclasses import replace
from pathlib import Path
from types import CodeType, FunctionType

from benchmarks.mutation import (
    Found,
    Measured,
    Mutant,
    Trial,
    document,
    in_order,
    replace_code,
)

PATH = "models/attention/mask.py"
BEFORE = "LIMIT = 3\ndef most(x):\n    return max(x, LIMIT)\n"


def changed(before: str, after: str) -> bool:
    """Whether the function `most` has its new code, and does as the changed source does."""
    old, new = (compile(source, "made up", "exec") for source in (before, after))
    names: dict[str, FunctionType] = {}
    exec(old, names)
    done = replace_code([names["most"]], old, new)
    assert isinstance(names["most"].__code__, CodeType)
    assert names["most"](5) == (eval("min(5, 3)") if done else 5)
    return done


def test_a_function_gets_its_new_code() -> None:
    assert changed(BEFORE, BEFORE.replace("max", "min"))
    assert not changed(BEFORE, BEFORE.replace("LIMIT = 3", "LIMIT = 4"))


def mutant(line: int, result: str = "untried", after: str = "after", path: str = PATH) -> Mutant:
    return Mutant(path, line, "AddNot", line, f"before {line}", after, result)


SOURCE = """LIMIT = 3
@cached
def most(x, least=0):
    if x:
        return LIMIT
    return least
class Rule:
    size = 4
    def own(self):
        return self.size
"""


def written(folder: Path) -> str:
    """The path of a file with functions and a class."""
    file = folder / "mask.py"
    file.write_text(SOURCE, encoding="utf-8")
    return str(file)


def test_lines_that_an_import_executes_are_tried_with_what_they_are_part_of(
    tmp_path: Path,
) -> None:
    path, most, rule = written(tmp_path), range(4, 7), range(8, 11)
    expected = [range(0), most, most, range(4, 5), range(5, 6), range(6, 7)]
    expected += [rule, rule, range(10, 11), range(10, 11)]
    assert [mutant(line, path=path).lines() for line in range(1, 11)] == expected


def test_the_fastest_case_of_each_function_comes_first(tmp_path: Path) -> None:
    path = written(tmp_path)
    seconds = {"a[1]": 3.0, "a[2]": 1.0, "b": 2.0, "c": 0.5, "slow": 99.0}
    lines = {"5": ["a[1]", "a[2]", "b", "slow"], "6": ["c", "failed"]}
    tests = Measured(seconds, {path: lines}, [])
    assert tests.of(mutant(5, path=path)) == ["a[2]", "b"]  # what follows would take too long
    assert tests.of(mutant(6, path=path)) == ["c"]
    assert set(tests.of(mutant(1, path=path))) == {"c", "a[2]", "b"}
    own = "tests/test_mask_more.py::slow"
    tests = Measured(seconds | {own: 9.0}, {path: {"5": ["a[1]", "a[2]", "b", own]}}, [])
    assert tests.of(mutant(5, path=path)) == [own, "a[2]"]  # of a file mask.py


def test_what_an_import_executes_counts_for_no_test(tmp_path: Path) -> None:
    """The test that imported the file; one that looks at classes is tried outside of functions."""
    path, looks = written(tmp_path), "tests/models/test_values.py::test_values_are_frozen"
    lines = {"8": ["imports", looks], "9": ["imports", looks], "10": ["uses"], "5": ["most"]}
    tests = Measured({"imports": 1.0, looks: 0.1, "uses": 2.0, "most": 3.0}, {path: lines}, [])
    assert tests.of(mutant(8, path=path)) == ["uses", looks]
    assert tests.of(mutant(10, path=path)) == ["uses"]
    assert tests.of(mutant(1, path=path)) == ["uses", "most", looks]


def test_a_change_outside_of_functions_is_tried_in_a_new_process() -> None:
    """Classes of types in annotations are then those of the changed file."""
    ids = ["tests/models/attention/test_mask_rows.py::test_rules_that_cannot_be"]
    trial = Trial(mutant(1), ids, [], None, None)  # type: ignore[arg-type]
    source = Path(PATH).read_text(encoding="utf-8")
    assert trial._reloaded(source) == {"result": "survived"}
    by = f"{ids[0]}[wrong0-offset: expected 0 or more, received -1]"
    changed = source.replace("expected 0 or more", "other")
    assert trial._reloaded(changed) == {"result": "killed", "by": by}


def test_later_results_replace_earlier_ones(tmp_path: Path) -> None:
    runs = [
        [mutant(1, "killed"), mutant(2, "survived"), mutant(3)],
        [mutant(1), mutant(2, "killed")],
    ]
    paths = []
    for number, some in enumerate(runs):
        paths.append(tmp_path / f"{number}.json")
        Found({"seconds": 60.0, "processor seconds": 30.0}, some).write(paths[-1])
    found = Found.read(paths)
    assert [each.result for each in found.mutants] == ["killed", "killed", "untried"]
    assert found.numbers == {"seconds": 120.0, "processor seconds": 60.0}


def test_results_stay_with_their_lines() -> None:
    """Of two equal lines, the second keeps its own result; a line that is changed loses it."""
    line = Mutant(PATH, 3, "AddNot", 0, "if x:", "if not x:", "killed")
    known = [line, replace(line, line=5, occurrence=1, result="survived"), mutant(7, "killed")]
    moved = [
        replace(line, line=4, occurrence=2, after="", result="untried"),
        replace(line, line=9, occurrence=5, after="", result="untried"),
        replace(mutant(7), before="other"),
    ]
    found = Found({}, known).applied_to(moved)
    results = {each.line: (each.result, each.after) for each in found}
    assert results == {
        4: ("killed", "if not x:"),
        7: ("untried", "after"),
        9: ("survived", "if not x:"),
    }
    assert in_order(found) == in_order(found[::-1])
    assert {each.line for each in in_order(found)} == {4, 7, 9}


def test_the_report() -> None:
    numbers = {"seconds": 600.0, "processor seconds": 90.0}
    mutants = [mutant(1, "killed"), mutant(2, "survived"), mutant(3, "survived"), mutant(4)]
    text = document(Found(numbers, mutants), {mutants[1].change: "Nothing differs."})
    assert "3 of 4 mutants were tried" in text
    assert f"| {PATH} | 3 | 1 | 2 |" in text
    assert "- line 2: `before 2` → `after`: Nothing differs." in text
    assert "- line 3: `before 3` → `after`: **open**" in text

"""The wheel: one package, which works beside a folder that has packages of the same names."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from benchmarks import servers
from tests.browser.wire import Client

ROOT = Path(__file__).parents[1]
NOT_BUILT = (".git", ".venv", "node_modules", "tests", "docs", "__pycache__", "*.egg-info")
ROOMS = ("models", "analysis", "viz", "train")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, copy = tmp_path_factory.mktemp("wheel"), tmp_path_factory.mktemp("copy") / "headscope"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*NOT_BUILT))
    command = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    ran = subprocess.run(
        [sys.executable, "-m", "pip", *command, "--wheel-dir", str(folder), str(copy)],
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return next(folder.glob("headscope-*.whl"))


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Commands of an environment with the wheel; what it depends on is that of the tests.

    Of their folder of packages alone: the browser views that stand there as a link are not seen.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})
    packages = Path(paths["purelib"])
    (packages / "tests.pth").write_text(sysconfig.get_paths()["purelib"], "utf-8")
    scripts = Path(paths["scripts"])
    pip = [sys.executable, "-m", "pip", "--python", str(scripts / "python")]
    subprocess.run([*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], check=True)
    return scripts


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with packages called as ours are here, which cannot be imported."""
    folder = tmp_path_factory.mktemp("project")
    for name in (*ROOMS, "start", "app"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("raise ImportError('of the project')", "utf-8")
    return folder


def run(scripts: Path, project: Path, command: list[str]) -> str:
    """What a command says that runs in the project's folder."""
    ran = subprocess.run(
        [str(scripts / command[0]), *command[1:]], cwd=project, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


def test_everything_lies_in_one_package(wheel: Path) -> None:
    """In code, and in the code that is shown, only the name of the package differs."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    tops = {name.partition("/")[0] for name in files}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"headscope"}
    assert "headscope/py.typed" in files
    assert not any("node_modules" in name or name.endswith(".pyc") for name in files)
    for room in ROOMS:
        there = {name for name in files if re.fullmatch(f"headscope/{room}/.*\\.py", name)}
        paths = [path.relative_to(ROOT) for path in (ROOT / room).rglob("*.py")]
        here = {f"headscope/{path.as_posix()}" for path in paths if "components" not in path.parts}
        assert there == here
        for name in here:
            code = files[name].decode()
            source = (ROOT / name.removeprefix("headscope/")).read_text("utf-8")
            assert code.replace("headscope.", "") == source.replace("headscope.", ""), name
            assert not re.search(rf"^\s*(from|import) ({'|'.join(ROOMS)})\b", code, re.MULTILINE)
            compile(code, name, "exec")


@pytest.mark.long
def test_what_readme_docs_and_notebooks_show_runs_installed(scripts: Path, project: Path) -> None:
    """Beside packages of the same names; without the checkout's configuration."""
    alone = ["-c", os.devnull, "--noconftest", "--import-mode=importlib", "-p", "no:cacheprovider"]
    said = run(
        scripts,
        project,
        ["python", "-m", "pytest", "-q", *alone, str(ROOT / "tests/test_blocks.py")],
    )
    assert " passed" in said
    home = run(scripts, project, ["python", "-c", "import headscope; print(headscope.__file__)"])
    assert home.startswith(str(scripts.parent))


def test_the_command_starts_the_app(scripts: Path, project: Path) -> None:
    port = servers.free_port()
    command = [str(scripts / "headscope"), "--no-browser", "--port", str(port)]
    with servers.running(command, project, port) as server:
        client = Client(server.url, path="lessons")
        asyncio.run(visit(client))
    assert client.errors == []
    assert {each.component_name for each in client.components.values()} >= {"headscope.view"}


async def visit(client: Client) -> None:
    async with client.connected():
        pass


def test_it_asks_for_all_that_the_app_needs() -> None:
    """The names of requirements.txt, in versions that admit what the tests ran with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    names = [*project["dependencies"], *extras["app"], *extras["models"]]
    asked = {each.name: each for each in map(Requirement, names) if each.name != "headscope"}
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    pinned = [line.split("==") for line in lines if "==" in line]
    assert sorted(asked) == sorted(name for name, _ in pinned)
    assert all(asked[name].specifier.contains(version) for name, version in pinned)

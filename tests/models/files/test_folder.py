"""Folders that come from anywhere: each bad one is refused in one line, and runs nothing."""

import json
import os
import pickle
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from models import free_memory
from models.files.folder import Folder
from models.run import CheckpointError, Model, load, trace
from tests.models.architectures import TEXT, redraw

IDS = torch.tensor([[3, 4, 5]])


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole, small Llama."""
    path = tmp_path_factory.mktemp("saved")
    config = transformers.LlamaConfig(**{**TEXT, "hidden_size": 36, "num_hidden_layers": 1})
    model = transformers.LlamaModel(config)
    redraw(model)
    model.save_pretrained(path)
    return path


@pytest.fixture
def copied(saved: Path, tmp_path: Path) -> Path:
    return shutil.copytree(saved, tmp_path / "odd-llama")


class Trap:
    """Unpickled, it leaves a file behind."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (str(self.path),)


def with_header(path: Path, entries: Any, data: bytes = b"", length: int | None = None) -> None:
    raw = entries if isinstance(entries, bytes) else json.dumps(entries).encode()
    size = struct.pack("<Q", len(raw) if length is None else length)
    (path / "model.safetensors").write_bytes(size + raw + data)


def settings(path: Path, **changes: Any) -> None:
    file = path / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def weights(path: Path, change: Callable[[dict[str, torch.Tensor]], Any]) -> None:
    file = path / "model.safetensors"
    state = load_file(file)
    change(state)
    save_file({name: tensor.clone() for name, tensor in state.items()}, file)


def only_pickle(path: Path, what: Any, name: str = "pytorch_model.bin") -> None:
    (path / "model.safetensors").unlink()
    torch.save(what, path / name)


def one(dtype: str = "F32", shape: Any = (2, 3), offsets: Any = (0, 24)) -> dict[str, Any]:
    return {"a": {"dtype": dtype, "shape": shape, "data_offsets": offsets}}


def link(path: Path, name: str, to: Path) -> None:
    (path / name).unlink(missing_ok=True)
    (path / name).symlink_to(to)


def outside(path: Path) -> Path:
    place = path.parent / "elsewhere"
    shutil.copytree(path, place)
    return place


def first(state: dict[str, torch.Tensor]) -> str:
    return next(name for name in state if "q_proj" in name)


def without_weights(path: Path, name: str, content: Any) -> None:
    """Another file in the place of the weights."""
    (path / "model.safetensors").unlink()
    (path / name).write_bytes(
        content if isinstance(content, bytes) else json.dumps(content).encode()
    )


INDEX = "model.safetensors.index.json"
HOSTILE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "header cut off": (lambda p: os.truncate(p / "model.safetensors", 2), "header too small"),
    "header of terabytes": (lambda p: with_header(p, one(), length=2**43), "header too large"),
    "tensor of terabytes": (
        lambda p: with_header(p, one(shape=[2**20, 2**20], offsets=[0, 2**42])),
        "file not fully covered",
    ),
    "unknown type": (lambda p: with_header(p, one(dtype="F31"), bytes(24)), "is damaged"),
    "header is deep": (lambda p: with_header(p, b"[" * 99_999), "is damaged"),
    "overlapping tensors": (
        lambda p: with_header(p, {**one(), "b": one()["a"]}, bytes(24)),
        "invalid offset",
    ),
    "weights cut off": (
        lambda p: os.truncate(p / "model.safetensors", 3000),
        "unreadable checkpoint",
    ),
    "no weights": (lambda p: (p / "model.safetensors").unlink(), "there are no weights here"),
    "no config": (lambda p: (p / "config.json").unlink(), "config.json is missing"),
    "config is a list": (
        lambda p: (p / "config.json").write_text("[]"),
        "config.json: expected an object",
    ),
    "config of no text": (
        lambda p: (p / "config.json").write_bytes(b"\xff\xfe\x00"),
        "config.json is broken",
    ),
    "unknown architecture": (
        lambda p: settings(p, model_type="perceptron"),
        "'perceptron' is not an architecture of transformers",
    ),
    "remote code": (
        lambda p: settings(p, model_type="mine", auto_map={"AutoModel": "evil.Model"}),
        "asks to run code that comes with the model",
    ),
    "quantised": (
        lambda p: settings(p, quantization_config={"quant_method": "bitsandbytes"}),
        "quantised",
    ),
    "endless layers": (
        lambda p: settings(p, num_hidden_layers=10**9),
        "num_hidden_layers: expected at most 512",
    ),
    "missing tensor": (
        lambda p: weights(p, lambda s: s.pop(first(s))),
        "the checkpoint lacks layers.0.self_attn.q_proj.weight",
    ),
    "extra tensor": (
        lambda p: weights(p, lambda s: s.update(nose=torch.ones(3))),
        "no place in LlamaModel: nose",
    ),
    "wrong shape": (
        lambda p: weights(p, lambda s: s.update({first(s): torch.ones(5, 7)})),
        r"has wrong shapes for \S+ \(5 × 7 in place of \d+ × \d+\)",
    ),
    "infinity": (
        lambda p: weights(p, lambda s: s[first(s)].view(-1)[17:18].fill_(torch.inf)),
        "q_proj.weight holds NaN or infinity",
    ),
    "pickle that runs code": (
        lambda p: only_pickle(p, {"a": Trap(p.parent / "ran")}),
        "asks to run code",
    ),
    "bare pickle that runs code": (
        lambda p: without_weights(p, "pytorch_model.bin", pickle.dumps(Trap(p.parent / "ran"))),
        "damaged",
    ),
    "pickle of something else": (lambda p: only_pickle(p, [1, 2]), "expected a mapping from names"),
    "pickle of noise": (
        lambda p: without_weights(p, "pytorch_model.bin", b"PK\x03\x04" + bytes(99)),
        "damaged",
    ),
    "pickle of one number": (
        lambda p: only_pickle(p, {"a": torch.ones(1).expand(2**40)}),
        "states tensors far beyond its size",
    ),
    "link to weights elsewhere": (
        lambda p: link(p, "model.safetensors", outside(p) / "model.safetensors"),
        "model.safetensors is a link out of the folder",
    ),
    "link to a tokenizer elsewhere": (
        lambda p: link(p, "tokenizer.json", outside(p) / "config.json"),
        "tokenizer.json is a link out of the folder",
    ),
    "link in a circle": (lambda p: link(p, "config.json", p / "config.json"), "config.json"),
    "index to a file elsewhere": (
        lambda p: without_weights(p, INDEX, {"weight_map": {"a": "../x.safetensors"}}),
        "is not a file name",
    ),
    "index to a missing file": (
        lambda p: without_weights(p, INDEX, {"weight_map": {"a": "model-1.safetensors"}}),
        "'model-1.safetensors', which is missing",
    ),
    "index without a map": (lambda p: without_weights(p, INDEX, {}), "expected a weight_map"),
    "broken tokenizer": (
        lambda p: (p / "tokenizer.json").write_text("{"),
        "tokenizer.json is not a readable tokenizer",
    ),
    "a pipe": (
        lambda p: ((p / "config.json").unlink(), os.mkfifo(p / "config.json")),
        "expected a regular file",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_bad_folder_is_one_line(name: str, copied: Path) -> None:
    make, message = HOSTILE[name]
    make(copied)
    with pytest.raises(CheckpointError, match=message) as caught:
        load(copied)
    said = str(caught.value)
    assert said.startswith("odd-llama: ")
    assert "\n" not in said
    assert len(said) < 300
    assert not (copied.parent / "ran").exists(), "code of the folder ran"


def test_a_trap_would_have_worked(tmp_path: Path) -> None:
    """The pickle above does run code where it is unpickled without care."""
    pickle.loads(pickle.dumps(Trap(tmp_path / "ran")))
    assert (tmp_path / "ran").is_dir()


# --- what may be strange and is still opened ----------------------------------------------------


def opens(path: Path, saved: Path) -> Model:
    model = load(path)
    assert trace(model, IDS).output.values.equal(trace(load(saved), IDS).output.values)
    return model


def test_settings_that_would_fetch_or_run_are_dropped(copied: Path, saved: Path) -> None:
    settings(
        copied,
        _attn_implementation="someone/kernels",
        attn_implementation="someone/kernels",
        auto_map={"AutoModel": "evil.Model"},
        custom_pipelines={"text-generation": "evil.Pipeline"},
        transformers_weights="../x.safetensors",
        experts_implementation="someone/kernels",
        kernel_config={"RMSNorm": "someone/kernels"},
        distributed_config={"tp_size": 2},
        output_attentions=True,
        output_hidden_states=True,
        return_dict=False,
        torchscript=True,
    )
    (copied / "evil.py").write_text("raise SystemExit")
    (copied / "adapter_config.json").write_text('{"base_model_name_or_path": "someone/else"}')
    network: Any = opens(copied, saved).network
    without: Any = load(saved).network
    assert network.config._attn_implementation == "sdpa"
    assert network.config.to_dict() == without.config.to_dict()


def sharded(path: Path) -> None:
    state = load_file(path / "model.safetensors")
    names = sorted(state)
    parts = {"a.safetensors": names[:3], "b.safetensors": names[3:]}
    for file, part in parts.items():
        save_file({name: state[name] for name in part}, path / file)
    index = {name: file for file, part in parts.items() for name in part}
    without_weights(path, INDEX, {"weight_map": index})


def linked(path: Path) -> None:
    shutil.move(path / "model.safetensors", path / "blob")
    link(path, "model.safetensors", path / "blob")


STRANGE: dict[str, Callable[[Path], Any]] = {
    "shards": sharded,
    "a pickle of tensors": lambda p: only_pickle(p, load_file(p / "model.safetensors")),
    "a pickle beside safetensors": lambda p: torch.save(
        {"a": Trap(p.parent / "ran")}, p / "pytorch_model.bin"
    ),
    "a link inside": linked,
    "no class": lambda p: settings(p, architectures=None),
    "no such class": lambda p: settings(p, architectures=["LlamaPreTrainedModel", "torch", 3]),
    "a table it makes itself": lambda p: weights(
        p, lambda state: state.update({"layers.0.self_attn.inv_freq": torch.ones(3)})
    ),
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_strange_and_still_opens(name: str, copied: Path, saved: Path) -> None:
    STRANGE[name](copied)
    opens(copied, saved)
    assert not (copied.parent / "ran").exists()


def test_infinity_as_the_library_writes_it(copied: Path, saved: Path) -> None:
    settings(copied, time_step_limit=[0.0, {"__float__": "Infinity"}])  # of Falcon-H1
    network: Any = opens(copied, saved).network
    assert network.config.time_step_limit == [0.0, float("inf")]


# --- memory -------------------------------------------------------------------------------------


def test_memory_is_told_from_headers(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = Folder.at(saved).weights()
    network = load(saved).network
    numbers = sum(parameter.numel() for parameter in network.parameters())
    assert free_memory.weights_bytes(files, torch.float32) == 4 * numbers
    assert free_memory.weights_bytes(files, torch.bfloat16) == 2 * numbers
    monkeypatch.setattr(free_memory, "available_memory", lambda device="cpu": 3 * numbers)
    with pytest.raises(CheckpointError, match=r"GiB are free; dtype=torch\.bfloat16 would fit"):
        load(saved)
    load(saved, dtype=torch.bfloat16)
    monkeypatch.setattr(free_memory, "available_memory", lambda device="cpu": 2)
    with pytest.raises(CheckpointError, match=r"GiB are free$"):
        load(saved)


@pytest.mark.parametrize(
    ("name", "most"), [("tokens_seen", "2,147,483,648"), ("frozen_layers", "512")]
)
def test_the_largest_number_of_a_config(name: str, most: str, copied: Path, saved: Path) -> None:
    settings(copied, **{name: int(most.replace(",", ""))})
    opens(copied, saved)
    settings(copied, **{name: int(most.replace(",", "")) + 1})
    with pytest.raises(CheckpointError, match=f"{name}: expected at most {most}"):
        load(copied)

"""A small DINOv2 through an ONNX graph with the names that the exporter gives."""

from pathlib import Path
from typing import Any

import onnx
import torch
import transformers
from onnx import helper, numpy_helper
from torch import Tensor

from models.files.folder import Folder
from models.loading.folders import from_folder
from models.loading.packages import dinov2
from models.run import trace

SIZES: dict[str, Any] = {
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "mlp_ratio": 3,
}
SIZES |= {"image_size": 35, "patch_size": 7, "use_mask_token": False}
LINEAR = {
    "attention.q_proj": "attention/attention/query",
    "attention.k_proj": "attention/attention/key",
    "attention.v_proj": "attention/attention/value",
    "attention.o_proj": "attention/output/dense",
    "mlp.fc1": "mlp/fc1",
    "mlp.fc2": "mlp/fc2",
}


def network() -> transformers.Dinov2Model:
    torch.manual_seed(6)
    made = transformers.Dinov2Model(transformers.Dinov2Config(**SIZES)).eval()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(0.1, 0.3)
    return made


def graph_of(state: dict[str, Tensor]) -> onnx.ModelProto:
    stored, nodes = [], []

    def store(name: str, tensor: Tensor) -> str:
        stored.append(numpy_helper.from_array(tensor.contiguous().numpy(), name))
        return name

    for name, tensor in state.items():
        for theirs, ours in LINEAR.items():
            path = name.replace(theirs, ours)
            if path != name and name.endswith("weight"):
                anonymous = store(f"onnx::MatMul_{len(stored)}", tensor.T)
                place = path.removesuffix(".weight").replace(".", "/").replace("layer/", "layer.")
                node = f"/backbone/{place}/MatMul"
                nodes.append(helper.make_node("MatMul", ["x", anonymous], [node], name=node))
                break
            if path != name:
                store("backbone." + path.replace("/", "."), tensor)
                break
        else:
            if "position" not in name:
                store(f"backbone.{name}", tensor)
    positions = state["embeddings.position_embeddings"]
    for kind, name, tensor in (
        ("Reshape", "Reshape_1", positions[:, 1:]),
        ("Concat", "Concat_6", positions[:, :1]),
    ):
        initial, full = store(f"onnx::{kind}_1", tensor), f"/backbone/embeddings/{name}"
        nodes.append(helper.make_node(kind, [initial, "y"], [full], name=full))
    nodes.append(helper.make_node("MatMul", ["x", "y"], ["z"], name="/decoder/head/MatMul"))
    store("decoder.head.bias", torch.ones(3))
    return helper.make_model(helper.make_graph(nodes, "saliency", [], [], stored))


def write(path: Path, model: onnx.ModelProto) -> Path:
    file, folder = path / "small.onnx", path / "made"
    onnx.save(model, file)
    folder.mkdir()
    dinov2.write({"small.onnx": file}, folder)
    return folder


@torch.no_grad()
def test_what_was_written_is_read(tmp_path: Path) -> None:
    expected = network()
    folder = write(tmp_path, graph_of(expected.state_dict()))
    model = from_folder(Folder.at(folder), "small", "transformers")
    pixels = torch.randn(1, 3, 35, 35, generator=torch.Generator().manual_seed(2))
    found = trace(model, pixels).output.values
    assert (found - expected(pixels).last_hidden_state).abs().max() < 1e-6
    assert model.left_out == ()
    assert model.preprocessing is not None
    assert (model.preprocessing.resize, model.preprocessing.size) == ("crop", (224, 224))

"""Files of ``torch.export.save``: read without unpickling, compared with the module that was exported."""

import io
import json
import pickle
import zipfile

import pytest
import torch
from torch import nn

from modules import compiled, difference
from torch_ane.module._pt2 import ExportedProgramError, read
from torch_ane.module._tensors import TensorFileError, read_tensors


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, 2, 1)
        self.norm = nn.BatchNorm2d(8)
        self.head = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(8, 4))
        self.register_buffer("shift", torch.arange(4).float())
        self.register_buffer("fleeting", torch.ones(4), persistent=False)
        self.constant = torch.ones(4) * 2

    def forward(self, image, scale):
        y = self.norm(self.conv(image)).mean((2, 3))
        logits = self.head(y) * scale + self.shift * self.fleeting + self.constant
        return {"logits": logits, "parts": y.split(4, 1), "best": logits.argmax(-1)}


INPUTS = {"image": torch.randn(2, 3, 16, 16), "scale": torch.randn(1)}


@pytest.fixture
def saved(tmp_path):
    torch.manual_seed(2)
    module = Net().eval()
    file = tmp_path / "net.pt2"
    torch.export.save(torch.export.export(module, tuple(INPUTS.values())), file)
    return module, file


def changed(file, entry, change):
    """The file with another entry."""
    with zipfile.ZipFile(file) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries[entry] = change(entries[entry])
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)


def changed_program(file, change):
    def apply(data):
        program = json.loads(data)
        change(program)
        return json.dumps(program)

    changed(file, "serialized_exported_program.json", apply)


def test_a_file_gives_what_its_module_gives(saved):
    module, file = saved
    found = compiled(read(str(file)), **INPUTS)
    assert difference(found) < 1e-6
    assert found.outputs == ("logits", "parts_0", "parts_1", "best")
    with torch.no_grad():
        assert torch.allclose(found.found[0], module(**INPUTS)["logits"], atol=1e-6)


def test_core_aten_is_read_too(tmp_path):
    torch.manual_seed(2)
    module, file = Net().eval(), tmp_path / "core.pt2"
    program = torch.export.export(module, tuple(INPUTS.values())).run_decompositions()
    torch.export.save(program, file)
    assert difference(compiled(read(str(file)), **INPUTS)) < 1e-6


def test_another_writers_version_is_refused_by_name(saved):
    changed_program(saved[1], lambda program: program.update(torch_version="2.12.1"))
    with pytest.raises(ExportedProgramError, match=r"written by torch 2\.12\.1 .*read are files of torch 2\.6"):
        read(str(saved[1]))


def test_an_archive_of_newer_torch_is_refused(tmp_path):
    file = tmp_path / "new.pt2"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("model/archive_version", "0")
        archive.writestr("model/models/model.json", "{}")
    with pytest.raises(ExportedProgramError, match="PT2 archive"):
        read(str(file))


def test_a_shape_that_is_not_fixed_is_refused_with_its_axis(tmp_path):
    file = tmp_path / "dynamic.pt2"
    shapes = {"image": {0: torch.export.Dim("batch", min=2, max=8)}, "scale": None}
    program = torch.export.export(Net().eval(), tuple(INPUTS.values()), dynamic_shapes=shapes)
    torch.export.save(program, file)
    with pytest.raises(ExportedProgramError, match=r"axis 0 of \w+ has no fixed size"):
        read(str(file))


def test_other_shapes_than_the_exported_are_refused(saved):
    with pytest.raises(ExportedProgramError, match=r"exported for the inputs image \[2, 3, 16, 16\], scale \[1\]"):
        compiled(read(str(saved[1])), image=torch.randn(1, 3, 16, 16), scale=torch.randn(1))


@pytest.mark.parametrize("target", ["torch.ops.evil.run.default", "os.system", "torch.ops.higher_order.cond"])
def test_what_is_no_operation_of_aten_is_not_called(saved, target):
    changed_program(saved[1], lambda program: program["graph_module"]["graph"]["nodes"][0].update(target=target))
    with pytest.raises(ExportedProgramError, match="cannot be lowered"):
        read(str(saved[1]))


class Evil:
    def __reduce__(self):
        return print, ("executed",)


def test_a_pickle_is_never_run(saved, capsys):
    def poison(data):
        buffer = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(buffer, "w") as other:
            for name in archive.namelist():
                evil = pickle.dumps({"a": Evil()}, protocol=2)
                other.writestr(name, evil if name.endswith("data.pkl") else archive.read(name))
        return buffer.getvalue()

    changed(saved[1], "serialized_state_dict.pt", poison)
    with pytest.raises(ExportedProgramError, match="print, which is no tensor; it was not run"):
        read(str(saved[1]))
    assert "executed" not in capsys.readouterr().out


def test_a_tensor_larger_than_its_storage_is_refused(tmp_path):
    buffer = io.BytesIO()
    torch.save({"x": torch.arange(6.0).reshape(2, 3).t()}, buffer)
    assert torch.equal(read_tensors(buffer.getvalue(), "it")["x"], torch.arange(6.0).reshape(2, 3).t())
    data, small = io.BytesIO(), io.BytesIO(buffer.getvalue())
    with zipfile.ZipFile(small) as archive, zipfile.ZipFile(data, "w") as other:
        for name in archive.namelist():
            other.writestr(name, archive.read(name)[:8] if "/data/" in name else archive.read(name))
    with pytest.raises(TensorFileError, match="larger than its storage"):
        read_tensors(data.getvalue(), "it")

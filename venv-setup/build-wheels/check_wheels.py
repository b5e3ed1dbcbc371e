"""Runs in GraalPy, in an environment made of the wheelhouse alone: do the wheels work, and together?

    graalpy check_wheels.py

Each check is a function; what it proves is its name. The last ones are the faults that GraalPy's way of collecting
objects causes in torch (see torch_build/).
"""

import ctypes
import gc
import importlib.metadata
import tempfile
import time
from pathlib import Path

import numpy
import regex
import safetensors.numpy
import safetensors.torch
import tokenizers
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils.weak import WeakIdKeyDictionary

VERSIONS = {"torch": "2.6.0", "numpy": "2.2.6", "safetensors": "0.8.0", "tokenizers": "0.23.3", "regex": "2026.11.19"}


def versions_are_known_to_the_metadata():
    for name, version in VERSIONS.items():
        assert importlib.metadata.version(name) == version, (name, importlib.metadata.version(name))
    assert torch.__version__ == VERSIONS["torch"]


def tensors_and_arrays_share_memory():
    array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
    tensor = torch.from_numpy(array)
    tensor[1, 2] = 42
    assert array[1, 2] == 42
    assert tensor.numpy().ctypes.data == array.ctypes.data == tensor.data_ptr()


def numpy_computes():
    assert numpy.random.default_rng(0).random() == 0.6369616873214543
    matrix = numpy.array([[2.0, 1.0], [1.0, 3.0]])
    assert numpy.allclose(numpy.linalg.inv(matrix) @ matrix, numpy.eye(2))
    assert numpy.allclose(numpy.fft.ifft(numpy.fft.fft([1.0, 2.0, 3.0])).real, [1, 2, 3])


def torch_computes():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 5, generator=generator, requires_grad=True)
    nn.functional.softmax(x @ torch.ones(5, 2), dim=-1).pow(2).sum().backward()
    assert x.grad.shape == x.shape and torch.isfinite(x.grad).all()
    q = torch.randn(1, 2, 4, 8, generator=generator)
    assert nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True).shape == q.shape
    assert torch.tensor([1.5]).to(torch.bfloat16).item() == 1.5
    assert repr(torch.ones(2)) == "tensor([1., 1.])"


def torch_loads_its_own_libraries_and_no_other():
    mapped = {Path(line.split()[-1]) for line in Path("/proc/self/maps").read_text().splitlines() if ".so" in line}
    folder = Path(torch.__file__).parent / "lib"
    assert {"libtorch_cpu.so", "libc10.so", "libtorch_python.so"} <= {
        path.name for path in mapped if path.parent == folder
    }
    assert [path.parent for path in mapped if path.name.startswith("libgomp")] == [folder]


def safetensors_round_trip():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "weights.safetensors"
        weights = {"w": torch.arange(12, dtype=torch.float16).reshape(3, 4), "b": torch.ones(2, dtype=torch.bfloat16)}
        safetensors.torch.save_file(weights, file)
        loaded = safetensors.torch.load_file(file)
        assert all(torch.equal(loaded[name], tensor) for name, tensor in weights.items())
        arrays = {"a": numpy.arange(4, dtype=numpy.int32)}
        assert (safetensors.numpy.load(safetensors.numpy.save(arrays))["a"] == arrays["a"]).all()


def a_tokenizer_encodes_and_decodes():
    model = tokenizers.models.BPE(vocab={"a": 0, "b": 1, "ab": 2, "Ġ": 3}, merges=[("a", "b")])
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    ids = tokenizer.encode("ab a").ids
    assert ids == [2, 3, 0], ids
    assert tokenizer.decode(ids) == "ab a"


def regex_knows_unicode():
    assert regex.findall(r"\p{L}+|\p{N}", "naïve 42") == ["naïve", "4", "2"]


def frombuffer_takes_a_raw_ctypes_array():
    for _ in range(20):
        array = (ctypes.c_float * 4)(1, 2, 3, 4)
        tensor = torch.frombuffer(array, dtype=torch.float32)
        tensor[0] = 7
        assert array[0] == 7


def dictionaries_with_weak_keys_keep_tensors_that_live():
    kept = WeakIdKeyDictionary()
    tensors = [torch.ones(1) for _ in range(100)]
    for number, tensor in enumerate(tensors):
        kept[tensor] = number
    owner = torch.nn.ParameterList(tensors)
    del tensors, tensor
    for _ in range(3):
        gc.collect()
    assert len(kept) == 100
    assert len(owner) == 100


class Factory(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.make = make

    def forward(self, x):
        return self.make(x)


FACTORIES = {
    "arange": lambda x: x * torch.arange(16, dtype=torch.float32),
    "ones": lambda x: x + torch.ones(16),
    "zeros": lambda x: torch.cat([x, torch.zeros(4, 16)]),
    "full": lambda x: x * torch.full((16,), 0.5),
    "eye": lambda x: x @ torch.eye(16),
    "linspace": lambda x: x - torch.linspace(0, 1, 16),
    "tril of ones": lambda x: x.masked_fill(torch.ones(4, 16).tril() == 0, -40000.0),
    "arange and where": lambda x: torch.where(
        torch.arange(4)[:, None] >= torch.arange(16)[None, :], x, torch.zeros(())
    ),
}


def exported(module, *inputs):
    """The module's exported program: no constant in it, and equal to eager."""
    program = torch.export.export(module, inputs, strict=False)
    assert not program.constants, f"constants {list(program.constants)}"
    assert not any(isinstance(value, FakeTensor) for value in program.state_dict.values())
    assert torch.equal(program.module()(*inputs), module(*inputs))
    return program


def results_of_factories_stay_in_the_graph():
    x = torch.randn(4, 16)
    for name, make in FACTORIES.items():
        program = exported(Factory(make), x)
        assert not program.graph_signature.lifted_tensor_constants, name
        assert torch.allclose(program.run_decompositions().module()(x), make(x), rtol=0, atol=1e-6), name


def a_graph_with_getitem_verifies():
    program = exported(Factory(lambda x: torch.cat(x.chunk(2, dim=-1)[::-1], dim=-1)), torch.randn(4, 16))
    assert any(node.name.startswith("getitem") for node in program.graph.nodes)


def a_trace_survives_collections():
    class Collecting(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(2))

        def forward(self, x):
            for layer in self.layers:
                y = nn.functional.silu(layer(x))
                gc.collect()
                x = x + y * y.mean()
            return x

    graphs = {exported(Collecting().eval(), torch.randn(4, 16)).graph_module.code for _ in range(3)}
    assert len(graphs) == 1


def main():
    checks = [
        versions_are_known_to_the_metadata,
        tensors_and_arrays_share_memory,
        numpy_computes,
        torch_computes,
        torch_loads_its_own_libraries_and_no_other,
        safetensors_round_trip,
        a_tokenizer_encodes_and_decodes,
        regex_knows_unicode,
        frombuffer_takes_a_raw_ctypes_array,
        dictionaries_with_weak_keys_keep_tensors_that_live,
        results_of_factories_stay_in_the_graph,
        a_graph_with_getitem_verifies,
        a_trace_survives_collections,
    ]
    for check in checks:
        start = time.monotonic()
        check()
        print(f"ok  {check.__name__.replace('_', ' ')}  ({time.monotonic() - start:.1f} s)", flush=True)
    print(f"{len(checks)} passed, 0 failed")


if __name__ == "__main__":
    main()

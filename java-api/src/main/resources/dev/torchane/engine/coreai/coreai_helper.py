"""Runs programs of Core AI for Java.

Frames on stdin and stdout: four bytes of length, little-endian, then JSON. One request, one answer, in order. Tensors lie in files that
both sides map. Ends when stdin ends or the parent is gone. What libraries print goes to stderr.
"""

import asyncio
import json
import math
import mmap
import os
import select
import struct
import sys
import threading
import time
import traceback
from pathlib import Path

MOST_BYTES = 1 << 26
MOST_TEXT = 2000
SPIN_NANOS = 60_000


def guard_parent(parent):
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(3)


class Frames:
    """The two pipes."""

    def __init__(self):
        self.source = 0
        self.held = b""
        os.set_blocking(self.source, False)
        self.sink = os.dup(1)
        os.dup2(2, 1)

    def _part(self):
        """What comes next; looks for a while before it sleeps, for a wake-up takes longer than a small call."""
        until = time.perf_counter_ns() + SPIN_NANOS
        while True:
            try:
                return os.read(self.source, 1 << 16)
            except BlockingIOError:
                if time.perf_counter_ns() > until:
                    select.select((self.source,), (), ())

    def _exactly(self, count):
        while len(self.held) < count:
            part = self._part()
            if not part:
                return None
            self.held += part
        taken, self.held = self.held[:count], self.held[count:]
        return taken

    def read(self):
        head = self._exactly(4)
        if head is None:
            return None
        (count,) = struct.unpack("<I", head)
        if count > MOST_BYTES:
            raise SystemExit(f"a frame of {count} bytes; at most {MOST_BYTES} are taken")
        body = self._exactly(count)
        return None if body is None else json.loads(body)

    def write(self, answer):
        body = json.dumps(answer, separators=(",", ":")).encode()
        data = memoryview(struct.pack("<I", len(body)) + body)
        while data:
            data = data[os.write(self.sink, data) :]


class Mapped:
    """A file that Java maps too."""

    def __init__(self, np, dtypes, path):
        self.np, self.dtypes = np, dtypes
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)

    def tensors(self, layout):
        """Views of tensors in it, by name."""
        return {
            name: self.np.frombuffer(self.map, self.dtypes[dtype], math.prod(shape), offset).reshape(shape)
            for name, dtype, shape, offset in layout
        }


class Helper:
    """Programs, calls and states by the numbers that Java gives them."""

    def __init__(self):
        import coreai.authoring as au
        import coreai.runtime as rt
        import ml_dtypes
        import numpy as np

        self.np, self.au, self.rt = np, au, rt
        self.mac = sys.platform == "darwin" and rt._use_os_coreai
        self.dtypes = {
            "fp64": np.float64,
            "fp32": np.float32,
            "fp16": np.float16,
            "bf16": ml_dtypes.bfloat16,
            "bool": np.bool_,
            **{f"{kind}int{bits}": getattr(np, f"{kind}int{bits}") for kind in ("", "u") for bits in (8, 16, 32, 64)},
        }
        self.programs, self.functions, self.calls, self.states = {}, {}, {}, {}

    def ping(self, request):
        return {}

    def hello(self, request):
        from importlib.metadata import version

        return {
            "version": version("coreai-core"),
            "python": ".".join(map(str, sys.version_info[:3])),
            "runtime": "Core AI" if self.mac else "the reference interpreter of coreai-core",
        }

    # Building

    def _constant(self, item):
        """An attribute for a region of a file; the bytes stay there. Elements of less than a byte are packed in Core AI as in MIL."""
        from coreai._compiler.dialects.coreai.constant import create_constant_attr
        from coreai._compiler.ir import DenseResourceElementsAttr, Type

        np = self.np
        element, shape = item["element"], item["shape"]
        raw = np.memmap(item["file"], np.uint8, "r", item["offset"], (item["bytes"],))
        if element == "i1":  # a truth value is a byte in MIL and a bit here
            return create_constant_attr(np.array(raw).astype(np.bool_).reshape(shape))
        text = f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"
        return DenseResourceElementsAttr.get_from_buffer(raw, "weight", Type.parse(text))

    def assemble(self, request):
        from coreai._compiler.ir import Location, Module
        from coreai.authoring.types import AllocationType, HardwareConstraints

        context = self.au.Context()._mlir_context
        with context, Location.unknown(context):
            module = Module.parse(Path(request["text"]).read_text(), context)
            made = {}
            for graph in module.body.operations:
                for operation in graph.regions[0].blocks[0].operations:
                    if operation.name == "coreai.constant" and "data" in operation.attributes:
                        number = operation.attributes["data"].value
                        if number not in made:
                            made[number] = self._constant(request["items"][number])
                        del operation.attributes["data"]
                        operation.attributes["value"] = made[number]
            module.operation.verify()
        program = self.au.AIProgram._from_mlir_module(module)
        for function, ranks in request["surfaces"].items():
            program.set_hardware_constraints(
                function,
                {
                    state: HardwareConstraints(AllocationType.IOSurface, (1,) * (rank + 1), (1,) * rank)
                    for state, rank in ranks.items()
                },
            )
        program.save_asset(Path(request["out"]))
        return {}

    # Running

    async def load(self, request):
        path = Path(request["path"])
        if not json.loads((path / "metadata.json").read_text()).get("producer"):
            raise ValueError(f"{path} names no producer; macOS 27 does not load such models: build it again")
        asset = self.au.AIModelAsset.load(path)
        options = None
        if self.mac:
            kind = request["units"]
            options = self.rt.SpecializationOptions.default() if kind == "all" else self._options(kind)
        scope = asset.executable(options)
        model = await scope.__aenter__()
        self.programs[request["program"]] = (scope, model)
        return {"functions": list(model.function_names)}

    def _options(self, kind):
        kinds = self.rt.ComputeUnitKind
        options = self.rt.SpecializationOptions
        if kind == "cpu":  # preferring the CPU may still place parts elsewhere
            return options.cpu_only()
        return options.from_preferred_compute_unit_kind({"ane": kinds.neural_engine, "gpu": kinds.gpu}[kind]())

    def call(self, request):
        _, model = self.programs[request["program"]]
        mapped = Mapped(self.np, self.dtypes, request["file"])
        inputs, outputs = mapped.tensors(request["inputs"]), mapped.tensors(request["outputs"])
        function = model.load_function(request["function"])
        self.calls[request["call"]] = (request["program"], function, inputs, outputs)
        return {}

    async def run(self, request):
        array = self.rt.NDArray
        _, function, inputs, outputs = self.calls[request["call"]]
        state = self.states[request["state"]] if request["state"] else None
        if state and request["push"]:
            self._push(state)
        given = {name: array(view) for name, view in inputs.items()}
        began = time.perf_counter_ns()
        results = await function(given, state["arrays"] if state else None)
        nanos = time.perf_counter_ns() - began
        for name, view in outputs.items():
            self.np.copyto(view, results[name].numpy())
        return {"nanos": nanos}

    def state(self, request):
        views = Mapped(self.np, self.dtypes, request["file"]).tensors(request["tensors"])
        state = {"views": views, "program": request["program"]}
        self._push(state)
        self.states[request["state"]] = state
        return {}

    def _push(self, state):
        state["arrays"] = {name: self.rt.NDArray(view) for name, view in state["views"].items()}

    def pull(self, request):
        state = self.states[request["state"]]
        for name, view in state["views"].items():
            self.np.copyto(view, state["arrays"][name].numpy())
        return {}

    def drop(self, request):
        self.states.pop(request["state"], None)
        return {}

    async def unload(self, request):
        program = request["program"]
        self.calls = {key: value for key, value in self.calls.items() if value[0] != program}
        self.states = {key: value for key, value in self.states.items() if value["program"] != program}
        scope, model = self.programs.pop(program, (None, None))
        del model
        if scope is not None:
            await scope.__aexit__(None, None, None)
        return {}


OPERATIONS = frozenset(("ping", "hello", "assemble", "load", "call", "run", "state", "pull", "drop", "unload"))


async def serve(frames):
    helper = None
    while True:
        request = frames.read()
        if request is None:
            return
        try:
            if helper is None:
                helper = Helper()
            if request["op"] not in OPERATIONS:
                raise ValueError(f"no operation is called {request['op']!r}")
            answer = getattr(helper, request["op"])(request)
            if asyncio.iscoroutine(answer):
                answer = await answer
            frames.write(answer)
        except Exception as error:  # every failure of a request is an answer
            traceback.print_exc()
            frames.write({"error": f"{type(error).__name__}: {error}"[:MOST_TEXT]})


if __name__ == "__main__":
    threading.Thread(target=guard_parent, args=(os.getppid(),), daemon=True).start()
    asyncio.run(serve(Frames()))

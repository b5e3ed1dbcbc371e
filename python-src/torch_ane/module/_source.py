"""Modules from where users have them: their own code, files of ``torch.export.save``, transformers and diffusers."""

import contextlib
import importlib
import importlib.util
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch

from ._pillow import stand_in


class SourceError(Exception):
    """No module can be made from what was named; the message says why."""


@dataclass
class LoadedModule:
    """A module ready to evaluate, the method to compile, and keyword arguments that never change."""

    module: torch.nn.Module
    method: str = "forward"
    arguments: Mapping = field(default_factory=dict)
    graph: object = None  # of a file that was exported elsewhere


def load(source: Mapping) -> LoadedModule:
    """From what ``ModuleText.source`` writes. A factory's code runs; nothing else does."""
    found = {"factory": _factory, "exported": _exported, "pretrained": _pretrained}[source["kind"]](source)
    found.module.eval().requires_grad_(False)
    if found.graph is None:
        found.module.float()
        _without_dropout(found.module)
    return found


def _without_dropout(module: torch.nn.Module) -> None:
    """Dropout answers its own input when it evaluates; on GraalPy a trace may lose a tensor that comes back so."""
    for parent in list(module.modules()):
        for name, child in parent.named_children():
            if isinstance(child, torch.nn.modules.dropout._DropoutNd):
                setattr(parent, name, torch.nn.Identity())


# ---- a factory of the user's


def _factory(source: Mapping) -> LoadedModule:
    name, _, path = source["callable"].partition(":")
    if importlib.util.find_spec("diffusers") is not None:
        stand_in()
    with _in_front(source["folder"]):
        try:
            target = importlib.import_module(name)
        except ImportError as error:
            raise SourceError(f"cannot import {name} from {source['folder']}: {error}") from error
        for part in path.split("."):
            if not hasattr(target, part):
                raise SourceError(f"{name} has no {path}")
            target = getattr(target, part)
        module = target if isinstance(target, torch.nn.Module) else target(**source["arguments"])
    if not isinstance(module, torch.nn.Module):
        raise SourceError(f"{source['callable']} answers a {type(module).__name__}, not a torch.nn.Module")
    if source.get("weights"):
        _load_weights(module, Path(source["weights"]))
    return LoadedModule(module, source["method"])


@contextlib.contextmanager
def _in_front(folder: str):
    """With a folder first on the path; what was imported from it is forgotten again, and read anew next time."""
    before = set(sys.modules)
    sys.path.insert(0, folder)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(folder)
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file and Path(folder).resolve() in Path(file).resolve().parents:
                del sys.modules[name]


def _load_weights(module: torch.nn.Module, file: Path) -> None:
    if file.suffix == ".safetensors":
        from safetensors.torch import load_file

        state = load_file(str(file))
    else:
        try:
            state = torch.load(str(file), map_location="cpu", weights_only=True)
        except Exception as error:
            raise SourceError(f"{file} is no file of weights alone, and nothing else is read: {error}") from error
    if not isinstance(state, Mapping) or not all(isinstance(each, torch.Tensor) for each in state.values()):
        raise SourceError(f"{file} holds no state dict: expected tensors by name")
    try:
        module.load_state_dict(state)
    except RuntimeError as error:
        raise SourceError(f"{file} does not fit {type(module).__name__}: {error}") from error


# ---- a file of torch.export.save


def _exported(source: Mapping) -> LoadedModule:
    from ._pt2 import read

    return read(source["file"])


# ---- transformers, diffusers


def _pretrained(source: Mapping) -> LoadedModule:
    library, name, directory = source["library"], source["class"], source["directory"]
    if library == "diffusers":
        stand_in()
    module = importlib.import_module(library)
    kind = getattr(module, name, None)
    if kind is None or not hasattr(kind, "from_pretrained"):
        raise SourceError(f"{library} has no model class {name}")
    config = json.loads((Path(directory) / "config.json").read_text())
    if library == "transformers" and config.get("auto_map"):
        raise SourceError(f"{directory} names code of its own (auto_map), which is never run")
    try:
        if library == "transformers":
            model = kind.from_pretrained(directory, local_files_only=True, dtype=torch.float32)
        else:
            model = kind.from_pretrained(directory, local_files_only=True, low_cpu_mem_usage=False)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise SourceError(f"{name} cannot be loaded from {directory}: {error}") from error
    arguments = dict(source["arguments"])
    if library == "transformers" and getattr(model.config, "use_cache", False):
        model.config.use_cache = False
    return LoadedModule(model, source["method"], arguments)

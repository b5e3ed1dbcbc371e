"""A module with named tensors in and named tensors out, whatever its own signature is."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

import torch


class ModuleOutputError(Exception):
    """A module answers something that is no tensor; the message names it."""


class _Outputs:
    """Names of the results; an object, because export refuses attributes that change."""

    names: tuple[str, ...] = ()


class Call(torch.nn.Module):
    """One method of a module as ``forward`` of positional tensors to a tuple of tensors.

    ``names`` are passed by keyword where the method has parameters of these names, otherwise in their order.
    ``arguments`` are further keyword arguments that never change. :attr:`outputs` has the names of the results after
    the first call.
    """

    def __init__(self, module: torch.nn.Module, method: str, names: Sequence[str], arguments: Mapping):
        super().__init__()
        self.module, self.method = module, method
        self.names, self.arguments = tuple(names), dict(arguments)
        self.keywords = self._by_keyword()
        self._outputs = _Outputs()

    def _by_keyword(self) -> bool:
        parameters = inspect.signature(getattr(self.module, self.method)).parameters.values()
        known = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        found = [name for name in self.names if name in known]
        if found and len(found) < len(self.names):
            unknown = [name for name in self.names if name not in known]
            if not any(p.kind == p.VAR_KEYWORD for p in parameters):
                raise TypeError(
                    f"{type(self.module).__name__}.{self.method} has no parameter {', '.join(unknown)}; "
                    f"it has {', '.join(p.name for p in parameters)}"
                )
        return bool(found)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the results of the last call."""
        return self._outputs.names

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        method = self.module if self.method == "forward" else getattr(self.module, self.method)
        if self.keywords:
            result = method(**dict(zip(self.names, tensors, strict=True)), **self.arguments)
        else:
            result = method(*tensors, **self.arguments)
        found = list(_tensors("", result))
        if not found:
            raise ModuleOutputError(f"{type(self.module).__name__}.{self.method} answers no tensor")
        self._outputs.names = tuple([name for name, _ in found])
        return tuple([tensor for _, tensor in found])


def _tensors(name: str, value):
    """Names and tensors in a result: a tensor alone is ``output``, items of a tuple are ``output_0``, …"""
    if isinstance(value, torch.Tensor):
        yield name or "output", value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _tensors(f"{name}_{key}" if name else str(key), item)
    elif is_dataclass(value):
        for each in fields(value):
            yield from _tensors(f"{name}_{each.name}" if name else each.name, getattr(value, each.name))
    elif isinstance(value, (list, tuple)):
        if len(value) == 1:
            yield from _tensors(name, value[0])
        else:
            for index, item in enumerate(value):
                yield from _tensors(f"{name or 'output'}_{index}", item)
    elif value is not None:
        raise ModuleOutputError(
            f"the result {name or 'of the module'} is a {type(value).__name__}: only tensors, and tuples, lists, "
            "dicts and dataclasses of them, can be outputs (caches: pass use_cache = false)"
        )

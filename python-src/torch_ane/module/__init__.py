"""Any module into a program: where it comes from, how it is called, traced, folded and lowered."""

from ._call import Call, ModuleOutputError
from ._export import ModuleExport
from ._source import LoadedModule, SourceError, load

__all__ = ["Call", "LoadedModule", "ModuleExport", "ModuleOutputError", "SourceError", "load"]

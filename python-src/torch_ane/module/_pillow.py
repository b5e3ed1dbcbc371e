"""Names of Pillow for diffusers, which imports them beside its models and needs none of them to build one."""

import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType


def stand_in() -> None:
    """Makes ``import PIL.Image`` and its kind work where Pillow is not installed; using what they name fails."""
    if "PIL" in sys.modules or importlib.util.find_spec("PIL") is not None:
        return
    package = _module("PIL")
    package.__path__ = []
    package.__version__ = "0"
    for name in ("Image", "ImageOps", "ImageFilter", "ImageDraw", "ImageFont"):
        setattr(package, name, _module(f"PIL.{name}"))


def _module(name: str) -> ModuleType:
    module = _Names(name)
    module.__spec__ = ModuleSpec(name, None)
    sys.modules[name] = module
    return module


class _Names(ModuleType):
    """Answers a class for whatever begins with a capital, so that annotations and ``isinstance`` work."""

    def __getattr__(self, name: str):
        if not name[:1].isupper():
            if name.startswith("__"):
                raise AttributeError(name)
            return None
        kind = type(name, (_Resampling,), {"__module__": self.__name__})
        setattr(self, name, kind)
        return kind


class _AnyName(type):
    def __getattr__(cls, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        return f"{cls.__name__}.{name}"


class _Resampling(metaclass=_AnyName):
    """Constants such as ``Resampling.BICUBIC`` have a name, and nothing else."""

    def __init__(self, *_, **__):
        raise ImportError("Pillow is not installed: pictures are made in Java")

"""Language models: transformers' causal models as prefill and decode functions over one K state and one V state."""

from ._rope import UnsupportedRopeError
from ._structure import UnsupportedModelError
from .causal import CausalLMExport, Options

__all__ = ["CausalLMExport", "Options", "UnsupportedModelError", "UnsupportedRopeError"]

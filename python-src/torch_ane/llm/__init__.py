"""Language models: transformers' causal models as prefill and decode functions over one K state and one V state."""

from .causal import CausalLMExport, Options

__all__ = ["CausalLMExport", "Options"]

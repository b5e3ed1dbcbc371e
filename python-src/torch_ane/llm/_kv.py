"""Keys and values in states, behind transformers' cache."""

import torch
from transformers.cache_utils import Cache, CacheLayerMixin

from .. import ops  # noqa: F401 - defines torch_ane::kv_write and kv_read

MASK_NEG = -40000.0
"""What hides a column: representable in fp16, and unlike -inf never a NaN after softmax."""


class KvState:
    """One K and one V state [layers, 1, kvHeads, columns, headDim] while a module is traced or run.

    ``step`` [1] (int32) is the column where the window's row 0 goes. Each write makes new tensors, so that what was
    given is never changed and what is left can be an output.
    """

    def __init__(self, keys: torch.Tensor, values: torch.Tensor, step: torch.Tensor):
        self.keys, self.values, self.step = keys, values, step
        self.writes = 0

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, layer: int):
        """Writes the window's [1, kvHeads, rows, headDim] and answers all columns [1, kvHeads, columns, headDim]."""
        self.writes += 1
        kv = torch.ops.torch_ane
        self.keys = kv.kv_write(self.keys, key_states[None], layer, self.step)
        self.values = kv.kv_write(self.values, value_states[None], layer, self.step)
        return kv.kv_read(self.keys, layer), kv.kv_read(self.values, layer)


class StateLayer(CacheLayerMixin):
    """A layer of transformers' cache that lives in row ``row`` of a :class:`KvState`."""

    is_sliding = False  # the mask says what a row sees; every column is kept

    def __init__(self, state: KvState, row: int):
        super().__init__()
        self.state, self.row = state, row
        self.is_initialized = True

    def lazy_initialization(self, key_states, value_states):
        pass

    def update(self, key_states, value_states, *args, **kwargs):
        return self.state.update(key_states, value_states, self.row)

    def get_mask_sizes(self, query_length):
        return self.get_max_length(), 0

    def get_seq_length(self):
        return 0

    def get_max_length(self):
        return self.state.keys.shape[3]


def cache_of(state: KvState, layers: int, row: int | None = None) -> Cache:
    """A cache of so many layers; all of them in one ``row`` when a single layer is traced, whatever its index."""
    return Cache(layers=[StateLayer(state, index if row is None else row) for index in range(layers)])

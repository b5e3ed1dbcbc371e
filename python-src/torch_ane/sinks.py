"""The border to whoever collects a program: Java inside GraalPy, a recorder in the tests.

Lowering speaks MIL to these protocols and never sees what is behind them. Handles are opaque: they come out of a sink
and go back into the same one. Everything else that crosses is a plain value: ``str``, ``int``, ``float``, ``bool``, or
a list of these.

The MIL operations that are emitted, with the parameters they are given:

==================  ====================================================================================
elementwise         ``add sub mul real_div pow maximum minimum`` (x, y); ``rsqrt`` (x, epsilon)
activations         ``silu sigmoid tanh exp erf relu sqrt cos sin abs`` (x); ``gelu`` (x, mode: "EXACT" or
                    "TANH_APPROXIMATION"); ``softplus`` (x); ``clip`` (x, alpha, beta); ``softmax`` (x, axis)
products            ``linear`` (x, weight, bias if there is one); ``matmul`` (x, y, transpose_x, transpose_y);
                    ``conv`` (x, weight, bias, strides, pad_type "custom", pad, dilations, groups)
reductions          ``reduce_mean reduce_sum reduce_max`` (x, axes, keep_dims)
norms               ``layer_norm`` (x, axes, gamma, beta, epsilon)
shapes              ``reshape`` (x, shape); ``transpose`` (x, perm); ``expand_dims`` (x, axes); ``squeeze`` (x, axes);
                    ``concat`` (values: list, axis, interleave); ``split`` (x, split_sizes, axis);
                    ``slice_by_index`` (x, begin, end, stride and squeeze_mask if needed); ``tile`` (x, reps)
types               ``cast`` (x, dtype: "fp16", "fp32", "int32", "bool")
states              ``read_state`` (input); ``write_state`` (input, data), which has no result;
                    ``slice_update`` (x, update, begin, end)
==================  ====================================================================================

Each is standard MIL and means what MIL says. A state is read anew after it was written.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

Handle = Any
"""An opaque value of one function."""

Operand = Handle | Sequence[Handle] | bool | int | float | str | Sequence[bool] | Sequence[int] | Sequence[float]
"""A value, several values (``concat``), or a literal that becomes a small constant: int32 for integers, and for floats
the element type of the operation's first value."""


class FunctionSink(Protocol):
    """Collects one function."""

    def input(self, name: str, dtype: str, shape: Sequence[int]) -> Handle:
        """Declares a tensor given at each call. ``dtype`` is a MIL name such as ``"fp32"``."""

    def state(self, name: str, dtype: str, shape: Sequence[int]) -> Handle:
        """Declares a state, kept between calls and shared by the functions of a rung; read with ``read_state``."""

    def weight(self, name: str) -> Handle:
        """The weight that was given to :meth:`WeightSink.tensor` under this name, as this function's precision sees it.

        To be asked for after the tensor was given (its type is needed), any number of times: one constant stands in
        the function.
        """

    def constant(self, value: bool | int | float | str | Sequence[bool] | Sequence[int] | Sequence[float]) -> Handle:
        """A small constant as a value, for ``concat``: int32 for integers, this program's float type for floats.

        The begin of a state's update is ``concat(values=[constant([layer]), constant([0]), constant([0]), step,
        constant([0])], axis=0, interleave=False)``. Asking again for the same value may answer the same handle.
        """

    def operation(
        self, kind: str, name: str, operands: Mapping[str, Operand], composite: str | None
    ) -> Handle | Sequence[Handle] | None:
        """Appends an operation and answers its result: a list for ``split``, nothing for ``write_state``.

        ``name`` is a hint, made unique by the sink. ``composite`` is the group it belongs to, such as
        ``"rms_norm#12"``. Raises when the operands do not fit; the error names operation and operands.
        """

    def type_of(self, handle: Handle) -> str:
        """The type as MIL writes it: ``tensor<fp32, [1, 8, 576]>``."""

    def done(self, outputs: Mapping[str, Handle]) -> None:
        """Ends the function; the results get these names."""


class ProgramSink(Protocol):
    """Collects a program."""

    def function(self, name: str, opset: str) -> FunctionSink:
        """Begins a function such as ``decode_512``, to be ended with :meth:`FunctionSink.done` before the next."""


class WeightSink(Protocol):
    """Collects the weights all functions share."""

    def tensor(self, name: str, dtype: str, shape: Sequence[int], address: int, nbytes: int, role: str) -> None:
        """Takes one weight: contiguous, row-major, at ``address`` of this process, and only during the call.

        ``dtype`` is ``"fp32"``, ``"fp16"`` or ``"bf16"``; ``role`` is ``"linear"`` (a matrix [out, in] of a linear
        layer, or a convolution's weight [out, in, height, width]), ``"embedding"`` (the token table [vocab, hidden],
        maybe the head's matrix too), ``"head"`` (the head's own matrix) or ``"other"``.
        """

    def alias(self, name: str, of: str) -> None:
        """Says that ``name`` is the very weight ``of``: a tied head. Neither is sent twice."""


class Progress(Protocol):
    """Hears how far a long step has come."""

    def stage(self, stage: str, total: int, unit: str) -> None:
        """A stage has begun: ``total`` units of work (0 when unknown), each a ``unit`` such as ``"layers"``."""

    def done(self, units: int) -> None:
        """So many units of the current stage are done."""


class Checkpoint(Protocol):
    """The tensors of a checkpoint, memory-mapped by whoever opened it, alive as long as the model made from them."""

    def names(self) -> Sequence[str]:
        """All tensors, by their transformers name: ``model.layers.0.self_attn.q_proj.weight``."""

    def dtype(self, name: str) -> str:
        """``"fp32"``, ``"fp16"`` or ``"bf16"``."""

    def shape(self, name: str) -> Sequence[int]:
        """Row-major shape."""

    def address(self, name: str) -> int:
        """Where its bytes begin in this process. Mapped copy-on-write: passes may write there."""


class ExporterModule(Protocol):
    """What ``torch_ane.host`` offers to Java: plain arguments in, plain results out."""

    def versions(self) -> str:
        """JSON: ``{"passes": "1", "torch": "2.6.0", "transformers": "5.24.0", "python": "3.12.8"}``."""

    def load_causal_lm(self, config_json: str, checkpoint: Checkpoint) -> Any:
        """A model over the checkpoint's own memory, from the text of its ``config.json``: an opaque handle."""

    def export_causal_lm(
        self, model: Any, options_json: str, program: ProgramSink, weights: WeightSink, progress: Progress
    ) -> str:
        """Lowers ``prefill_M`` and ``decode_M`` for each rung and sends every weight.

        ``options_json``: ``{"target": "cpu", "precision": "fp32", "maxLen": 0, "prefillWindow": 256,
        "ladder": [512, 1024, 2048, 4096, 8192], "calibration": [ids of a text]}``; rungs of ``maxLen`` or more are left
        out and ``maxLen`` is the last.

        Answers JSON for the manifest: ``{"model": {...}, "rope": {...}, "embedding": {"weight": name, "rows": …,
        "columns": …, "multiplier": …}, "rowAxes": {...}, "report": {"stages": {"trace": seconds, …},
        "maxDifference": …}}``, where ``model``, ``rope`` and ``rowAxes`` are as docs/architecture.md says
        (``eos`` and ``bos`` as the configuration has them).
        """

    def eager_logits(self, model: Any, ids: Sequence[int]) -> Any:
        """The logits [vocab] after the last of ``ids``, fp32, computed by transformers alone: a contiguous tensor."""

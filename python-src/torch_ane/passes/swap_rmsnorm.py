"""RMSNorm as one operation."""

import torch

from .. import ops  # noqa: F401 - defines torch_ane::rms_norm

_EPSILONS = ("variance_epsilon", "eps", "epsilon")


class RMSNorm(torch.nn.Module):
    """``torch_ane::rms_norm`` with its weight."""

    def __init__(self, weight: torch.Tensor, epsilon: float):
        super().__init__()
        self.weight = torch.nn.Parameter(weight, requires_grad=False)
        self.epsilon = epsilon

    def forward(self, x):
        return torch.ops.torch_ane.rms_norm(x, self.weight, self.epsilon)


def swap_rmsnorm(model: torch.nn.Module) -> int:
    """Replaces every RMSNorm, by whatever name a model has it, by one that is a single operation.

    Given:  ``LlamaRMSNorm`` (weight · x̂), ``Gemma3RMSNorm`` ((1 + weight) · x̂): pow, mean, add, rsqrt, mul, mul.
    Result: ``RMSNorm`` with the weight that multiplies x̂: ``torch_ane.rms_norm(x, weight, epsilon)``.

    A norm is replaced only when the replacement computes the same on random rows: what merely looks like one stays.
    """
    count = 0
    kinds: dict[tuple, float | None] = {}  # class, epsilon -> what is added to the weight; None: leave it
    for module in list(model.modules()):
        for name, norm in list(module.named_children()):
            if not _looks_like_one(norm):
                continue
            epsilon = _epsilon(norm)
            kind = (type(norm), epsilon)
            if kind not in kinds:
                kinds[kind] = _offset(norm, epsilon)
            offset = kinds[kind]
            if offset is not None:
                weight = norm.weight.detach()
                setattr(module, name, RMSNorm(weight + offset if offset else weight, epsilon))
                count += 1
    return count


def _looks_like_one(norm: torch.nn.Module) -> bool:
    weights = list(norm.named_parameters())
    return (
        "RMSNorm" in type(norm).__name__
        and not isinstance(norm, RMSNorm)
        and len(weights) == 1
        and weights[0][0] == "weight"
        and weights[0][1].ndim == 1
        and _epsilon(norm) is not None
    )


def _epsilon(norm: torch.nn.Module) -> float | None:
    for name in _EPSILONS:
        value = getattr(norm, name, None)
        if isinstance(value, float):
            return value
    return None


@torch.no_grad()
def _offset(norm: torch.nn.Module, epsilon: float) -> float | None:
    rows = torch.linspace(-2, 2, 3 * norm.weight.numel(), dtype=norm.weight.dtype).reshape(1, 3, -1).sin()
    try:
        expected = norm(rows)
    except Exception:
        return None
    for offset in (0.0, 1.0):
        found = torch.ops.torch_ane.rms_norm(rows, norm.weight + offset, epsilon)
        if torch.allclose(found, expected, rtol=1e-5, atol=1e-5) and not _ambiguous(norm):
            return offset
    return None


def _ambiguous(norm: torch.nn.Module) -> bool:
    """An infinite or missing weight would let anything pass for equal."""
    return not torch.isfinite(norm.weight).all()

"""Gated MLPs in chunks whose intermediate rows fit the Neural Engine's on-chip memory."""

import torch

CHUNK = 4096
"""Most intermediate channels computed at once."""


class ChunkedMLP(torch.nn.Module):
    """``down(act(gate(x)) · up(x))`` as a sum over chunks of the intermediate channels."""

    def __init__(self, mlp: torch.nn.Module, chunks: int):
        super().__init__()
        self.act_fn = mlp.act_fn
        self.gate_proj = _rows(mlp.gate_proj, chunks)
        self.up_proj = _rows(mlp.up_proj, chunks)
        self.down_proj = _columns(mlp.down_proj, chunks)

    def forward(self, x):
        total = None
        for gate, up, down in zip(self.gate_proj, self.up_proj, self.down_proj, strict=True):
            part = down(self.act_fn(gate(x)) * up(x))
            total = part if total is None else total + part
        return total


def chunk_mlp(model: torch.nn.Module) -> int:
    """Splits the wide MLPs.

    Given:  ``gate_proj, up_proj [n, hidden]``, ``down_proj [hidden, n]`` with n of more than ``CHUNK``.
    Result: as many triples over n / chunks channels each, their results added.

    An MLP whose forward does anything else is left alone: the split is compared with it first.
    """
    count = 0
    for module in list(model.modules()):
        for name, mlp in list(module.named_children()):
            chunks = _chunks(mlp)
            if chunks > 1:
                chunked = ChunkedMLP(mlp, chunks)
                if _same(mlp, chunked):
                    setattr(module, name, chunked)
                    count += 1
    return count


def _chunks(mlp: torch.nn.Module) -> int:
    parts = [getattr(mlp, name, None) for name in ("gate_proj", "up_proj", "down_proj")]
    if not all(type(part) is torch.nn.Linear for part in parts) or not callable(getattr(mlp, "act_fn", None)):
        return 0
    width = parts[0].out_features
    chunks = -(-width // CHUNK)
    while width % chunks:
        chunks += 1
    return chunks


def _rows(linear: torch.nn.Linear, chunks: int) -> torch.nn.ModuleList:
    weights = linear.weight.detach().chunk(chunks, 0)
    biases = [None] * chunks if linear.bias is None else linear.bias.detach().chunk(chunks, 0)
    return torch.nn.ModuleList([plain_linear(w, b) for w, b in zip(weights, biases, strict=True)])


def _columns(linear: torch.nn.Linear, chunks: int) -> torch.nn.ModuleList:
    weights = linear.weight.detach().chunk(chunks, 1)
    biases = [None if linear.bias is None else linear.bias.detach()] + [None] * (chunks - 1)
    return torch.nn.ModuleList([plain_linear(w, b) for w, b in zip(weights, biases, strict=True)])


def plain_linear(weight: torch.Tensor, bias: torch.Tensor | None) -> torch.nn.Linear:
    """A linear layer over these very tensors."""
    made = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, device="meta")
    made.weight = torch.nn.Parameter(weight, requires_grad=False)
    if bias is not None:
        made.bias = torch.nn.Parameter(bias, requires_grad=False)
    return made


def agree(found: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether two answers differ by no more than another order of the sums."""
    return torch.allclose(found, expected, rtol=1e-4, atol=1e-5 * float(expected.abs().max() + 1))


@torch.no_grad()
def _same(mlp: torch.nn.Module, chunked: torch.nn.Module) -> bool:
    width = mlp.gate_proj.in_features
    rows = torch.linspace(-1, 1, 2 * width, dtype=mlp.gate_proj.weight.dtype).reshape(1, 2, width).sin()
    expected = mlp(rows)
    return agree(chunked(rows), expected)

"""Mixtures of experts as sums over all experts, each with its share of a row: 0 where the row did not choose it."""

import torch

from .chunk_mlp import agree, plain_linear


class SummedExperts(torch.nn.Module):
    """``Σ share(row, e) · down_e(act(gate_e(row)) · up_e(row))``, without a choice that depends on data."""

    def __init__(self, experts: torch.nn.Module):
        super().__init__()
        self.act_fn = experts.act_fn
        both, down = experts.gate_up_proj.detach(), experts.down_proj.detach()
        half = both.shape[1] // 2
        self.gate_proj = torch.nn.ModuleList([plain_linear(each[:half], None) for each in both])
        self.up_proj = torch.nn.ModuleList([plain_linear(each[half:], None) for each in both])
        self.down_proj = torch.nn.ModuleList([plain_linear(each, None) for each in down])

    def forward(self, hidden_states, top_k_index, top_k_weights):
        """[rows, hidden], [rows, chosen], [rows, chosen] to [rows, hidden]"""
        total = None
        for index, (gate, up, down) in enumerate(zip(self.gate_proj, self.up_proj, self.down_proj, strict=True)):
            chosen = torch.where(top_k_index == index, top_k_weights, 0.0)
            share = chosen.sum(-1, keepdim=True)
            part = down(self.act_fn(gate(hidden_states)) * up(hidden_states)) * share
            total = part if total is None else total + part
        return total


def swap_experts(model: torch.nn.Module) -> int:
    """Replaces the experts of transformers' mixtures.

    Given:  ``gate_up_proj [experts, 2n, hidden]``, ``down_proj [experts, hidden, n]``, and what each row chose.
    Result: a gated MLP for each expert, over every row; their results added, each times the row's weight for it or 0.

    Experts whose forward does anything else are left alone: the sum is compared with it first.
    """
    count = 0
    for module in list(model.modules()):
        for name, experts in list(module.named_children()):
            if _fits(experts):
                summed = SummedExperts(experts)
                if _same(experts, summed):
                    setattr(module, name, summed)
                    count += 1
    return count


def _fits(experts: torch.nn.Module) -> bool:
    both, down = getattr(experts, "gate_up_proj", None), getattr(experts, "down_proj", None)
    return (
        isinstance(both, torch.nn.Parameter)
        and isinstance(down, torch.nn.Parameter)
        and both.ndim == down.ndim == 3
        and both.shape == (down.shape[0], 2 * down.shape[2], down.shape[1])
        and callable(getattr(experts, "act_fn", None))
    )


@torch.no_grad()
def _same(experts: torch.nn.Module, summed: SummedExperts) -> bool:
    count, width = experts.down_proj.shape[:2]
    rows = torch.linspace(-1, 1, 2 * width, dtype=experts.down_proj.dtype).reshape(2, width).sin()
    index = torch.tensor([[0, count - 1], [count // 2, 0]])
    weights = torch.tensor([[0.7, 0.3], [0.4, 0.6]], dtype=rows.dtype)
    return agree(summed(rows, index, weights), experts(rows, index, weights))

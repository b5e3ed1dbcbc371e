"""Linear layers as 1×1 convolutions, the form the Neural Engine is fastest at."""

import torch


class PointwiseConv(torch.nn.Module):
    """A linear layer computed as a 1×1 convolution: [batch, rows, in] to [batch, rows, out]."""

    def __init__(self, linear: torch.nn.Linear):
        super().__init__()
        self.weight = torch.nn.Parameter(linear.weight.detach()[:, :, None, None], requires_grad=False)
        bias = linear.bias
        self.bias = None if bias is None else torch.nn.Parameter(bias.detach(), requires_grad=False)

    def forward(self, x):
        shape = x.shape
        columns = x.reshape(-1, 1, shape[-2], shape[-1]).permute(0, 3, 1, 2)  # [batch, in, 1, rows]
        out = torch.nn.functional.conv2d(columns, self.weight, self.bias)
        return out.permute(0, 2, 3, 1).reshape(*shape[:-1], out.shape[1])


def swap_linear(model: torch.nn.Module) -> int:
    """Replaces the linear layers inside decoder layers; the head stays as it is.

    Given:  ``linear(x [1, rows, in], weight [out, in])``.
    Result: ``conv2d(x [1, in, 1, rows], weight [out, in, 1, 1])`` between transpositions.
    """
    head = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    count = 0
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if type(child) is torch.nn.Linear and child is not head:
                setattr(module, name, PointwiseConv(child))
                count += 1
    return count

"""Small modules that use each operation of the table: by name, a function and its inputs."""

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812


def _random(*shape: int, seed: int = 3) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


X, Y = _random(2, 3, 4), _random(2, 3, 4, seed=4)
POSITIVE, UNIT = X.abs() + 0.1, X.clamp(-0.9, 0.9)
N, M = torch.arange(-6, 18).reshape(2, 3, 4), torch.arange(1, 25).reshape(2, 3, 4)
SQUARE, IMAGE, SIGNAL = _random(2, 4, 4), _random(2, 4, 8, 6), _random(2, 4, 9)
VOLUME, ROWS = _random(1, 2, 4, 5, 6), _random(5, 8)
IDS = torch.tensor([[0, 2, 1], [1, 1, 0]])
aten = torch.ops.aten


class Calls(nn.Module):
    """A function as a module; tensors that it needs as its own are its buffers."""

    def __init__(self, function, **buffers):
        super().__init__()
        self.function = function
        for name, tensor in buffers.items():
            self.register_buffer(name, tensor)

    def forward(self, *inputs):
        own = dict(self.named_buffers())
        return self.function(*inputs, **own)


def _seeded(make):
    torch.manual_seed(6)
    return make().eval()


def _case(function, *inputs):
    return (function if isinstance(function, nn.Module) else Calls(function)), inputs or (X, Y)


CASES = {
    "arithmetic": _case(lambda x, y: (x + y) * (x - y) / (y * y + 2) - 3 + 2 * x),
    "numbers on the left": _case(lambda x, y: 1 - x * 0.5 + 2 / (y * y + 1) + 2.0**x),
    "integers": _case(lambda n, m: ((n + m) * 2 - n // 3) % 5 + n % m + (-n) + n**2, N, M),
    "integers and floats": _case(lambda n, x: n * x + n / 3 + x.long() + n.float().sqrt().nan_to_num() * 0, M, X),
    "quotients": _case(
        lambda x, y: torch.div(x, y, rounding_mode="floor") + torch.div(x, 0.3, rounding_mode="trunc") + x.trunc()
    ),
    "remainders": _case(lambda x, y: torch.remainder(x, 0.7) + torch.fmod(x, 0.3) + torch.fmod(x, y)),
    "powers": _case(lambda x, y: x**2 + x**0.5 + x**1.7 + torch.pow(x, y) + x.square() + x.rsqrt(), POSITIVE, Y),
    "mixed sums": _case(
        lambda x, y: torch.addcmul(x, x, y, value=0.5) + torch.addcdiv(x, y, x * x + 1) + torch.lerp(x, y, 0.3)
    ),
    "sides": _case(lambda x, y: torch.maximum(x, y) + torch.minimum(x, y) - (-x)),
    "reciprocal": _case(lambda x, y: x.reciprocal() + torch.rsub(x, 2), POSITIVE, Y),
    "exponentials": _case(lambda x, y: x.exp() + y.exp2() + x.expm1() + y.erf() + x.sigmoid()),
    "logarithms": _case(lambda x: x.log() + x.log1p() + x.log2() + x.log10(), POSITIVE),
    "trigonometry": _case(lambda x: x.sin() + x.cos() + x.tan() + x.asin() + x.acos() + x.atan(), UNIT),
    "hyperbolic": _case(lambda x: x.sinh() + x.cosh() + x.tanh() + x.atanh() + x.asinh() + (x + 2).acosh(), UNIT),
    "angles": _case(lambda x, y: torch.atan2(x, y)),
    "rounding": _case(lambda x, y: x.floor() + y.ceil() + (3 * x).round() + x.sign() + y.abs()),
    "activations": _case(lambda x, y: F.silu(x) + F.gelu(y) + F.gelu(x, approximate="tanh") + F.relu(x) + F.relu6(y)),
    "more activations": _case(
        lambda x, y: F.hardswish(x) + F.hardsigmoid(y) + F.softsign(y) + F.logsigmoid(x) + F.selu(y)
    ),
    "activations with a parameter": _case(
        lambda x, y: F.leaky_relu(x, 0.2) + F.elu(y, 0.7) + F.celu(x) + F.softplus(y) + F.threshold(x, 0.1, -2.0)
    ),
    "prelu": _case(lambda x, weight: F.prelu(x, weight.abs()), X, _random(3)),
    "glu": _case(lambda x: F.glu(x, -1), X),
    "limits": _case(lambda x, y: x.clamp(-0.5, 0.5) + y.clamp(min=0.1) + x.clamp(max=0.2) + F.hardtanh(y)),
    "limits of tensors": _case(
        lambda x, y: x.clamp(min=y) + torch.clamp_max(x, y) + torch.clamp_min(x, 0.1) + torch.clamp_max(y, 0.2)
    ),
    "limits of integers": _case(lambda n: n.clamp(0, 5), N),
    "softmax": _case(
        lambda x, y: x.softmax(-1) + y.softmax(1) + x.log_softmax(0) + torch.logsumexp(y, 1, keepdim=True)
    ),
    "sums": _case(lambda x, y: x.mean(-1, keepdim=True) + y.sum((1, 2), keepdim=True) + x.sum() + y.mean()),
    "extremes": _case(lambda x, y: x.amax(1, keepdim=True) + y.amin(2, keepdim=True) + x.max() - y.min()),
    "extremes with places": _case(lambda x, y: (*x.max(1), *y.min(-1, keepdim=True))),
    "places of extremes": _case(lambda x, y: (x.argmax(-1), y.argmin(0, keepdim=True), x.argmax())),
    "products": _case(lambda x, n: (x.prod(1), n.prod(-1), x.prod()), X, IDS + 1),
    "spread": _case(lambda x, y: (x.var(-1), y.std((0, 2), correction=0), x.var(1, unbiased=False))),
    "norms of vectors": _case(
        lambda x, y: (
            torch.linalg.vector_norm(x, 2, -1),
            torch.linalg.vector_norm(x, 1, 1),
            torch.linalg.vector_norm(y, 3, 0),
            torch.linalg.vector_norm(x, float("inf"), -1),
            F.normalize(y, dim=1),
        )
    ),
    "running sums": _case(lambda x, n: (x.cumsum(1), n.cumsum(-1)), X, N),
    "truth": _case(lambda x, y: ((x > 0).any(), (x > -9).all(), (x > y).any(1), (y != 0).all(-1, keepdim=True))),
    "comparisons": _case(
        lambda x, n: ((x > 0) & (n <= 3) | (x < -0.5) ^ (n == 2)) & ~(x >= 1) & torch.logical_not(n != 1), X, N
    ),
    "logic": _case(
        lambda x, y: torch.logical_and(x > 0, y > 0) | torch.logical_xor(x > 0, torch.logical_or(x > 1, y > 1))
    ),
    "choices": _case(lambda x, y: torch.where(x > 0, x, y) + torch.where(y > 0, 1.0, x) + x.masked_fill(y < 0, -3.0)),
    "choices of integers": _case(lambda n, m: torch.where(n > 3, n, m) + torch.where(n > 0, 1, 0), N, M),
    "choices of truth": _case(lambda x, y: torch.where(x > 0, x > 1, y > 0)),
    "not finite": _case(lambda x, y: torch.isnan(x.log()) | torch.isinf(1 / (x * 0))),
    "types": _case(lambda x, n: x.float() + n.to(torch.float32).type_as(x) + (n > 2) + x.bool().int(), X, N),
    "matmul": _case(lambda x, y: torch.matmul(x, y.transpose(-1, -2)) @ x[0] + (x @ y[0, 0])[..., None]),
    "products of matrices": _case(
        lambda a, b: torch.bmm(a, b) + torch.baddbmm(a, a, b) + torch.mm(a[0], b[0]) + torch.addmm(a[0], a[1], b[1]),
        SQUARE,
        SQUARE + 1,
    ),
    "vectors": _case(lambda a, b: torch.mv(a[0], b[0, 0]) * torch.dot(a[0, 0], b[0, 1]), SQUARE, SQUARE + 1),
    "einsum": _case(
        lambda a, b: (
            torch.einsum("bij,bjk->bik", a, b)
            + torch.einsum("bij,bkj->bki", a, b)
            + torch.einsum("bij,jk->bik", a, b[0])
        ),
        SQUARE,
        SQUARE + 1,
    ),
    "linear": _case(_seeded(lambda: nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 5, bias=False))), X),
    "conv1d": _case(_seeded(lambda: nn.Conv1d(4, 6, 3, 2, 1)), SIGNAL),
    "conv2d": _case(_seeded(lambda: nn.Conv2d(4, 6, (3, 2), (2, 1), (1, 0), (1, 2))), IMAGE),
    "conv2d of the same size": _case(_seeded(lambda: nn.Conv2d(4, 6, (4, 3), padding="same", bias=False)), IMAGE),
    "grouped convolution": _case(_seeded(lambda: nn.Conv2d(4, 16, 3, padding=1, groups=2)), IMAGE),
    "depthwise convolution": _case(_seeded(lambda: nn.Conv2d(4, 8, 3, padding=1, groups=4)), IMAGE),
    "conv3d": _case(_seeded(lambda: nn.Conv3d(2, 4, 3, 1, 1)), VOLUME),
    "transposed convolution": _case(_seeded(lambda: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1)), IMAGE),
    "grouped transposed convolution": _case(_seeded(lambda: nn.ConvTranspose2d(4, 12, 3, 2, 0, groups=2)), IMAGE),
    "transposed convolution of a signal": _case(_seeded(lambda: nn.ConvTranspose1d(4, 6, 4, 2, 1)), SIGNAL),
    "layer norm": _case(_seeded(lambda: nn.LayerNorm((3, 4))), X),
    "group norm": _case(_seeded(lambda: nn.GroupNorm(2, 4)), IMAGE),
    "batch norm": _case(_seeded(lambda: nn.BatchNorm2d(4)), IMAGE),
    "batch norm of rows": _case(_seeded(lambda: nn.BatchNorm1d(8)), ROWS),
    "instance norm": _case(_seeded(lambda: nn.InstanceNorm2d(4, affine=True)), IMAGE),
    "rms norm": _case(_seeded(lambda: nn.RMSNorm(4, eps=1e-5)), X),
    "pooling": _case(
        lambda x: (
            F.max_pool2d(x, 3, 2, 1).sum() + F.avg_pool2d(x, 2) + F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
        ),
        IMAGE,
    ),
    "pooling of signals": _case(lambda x: F.max_pool1d(x, 3, 2) + F.avg_pool1d(x, 3, 2), SIGNAL),
    "pooling of volumes": _case(lambda x: F.max_pool3d(x, 2) + F.avg_pool3d(x, 2), VOLUME),
    "pooling to a size": _case(
        lambda x, s: (F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (4, 3)), F.adaptive_avg_pool1d(s, 3)),
        IMAGE,
        SIGNAL,
    ),
    "largest of a size": _case(lambda x: F.adaptive_max_pool2d(x, (2, 2)), IMAGE),
    "enlarging": _case(
        lambda x: (
            F.interpolate(x, scale_factor=2),
            F.interpolate(x, size=(12, 15)),
            F.interpolate(x, size=(16, 9), mode="bilinear"),
            F.interpolate(x, size=(12, 9), mode="bilinear", align_corners=True),
            F.interpolate(x, scale_factor=2, mode="nearest-exact"),
        ),
        IMAGE,
    ),
    "enlarging a signal": _case(lambda x: F.interpolate(x, scale_factor=2), SIGNAL),
    "pixel shuffle": _case(lambda x: (F.pixel_shuffle(x, 2), F.pixel_unshuffle(x, 2)), IMAGE),
    "padding": _case(
        lambda x: (
            F.pad(x, (1, 2, 0, 3), value=0.5),
            F.pad(x, (1, 2, 3, 0), mode="reflect"),
            F.pad(x, (1, 2, 0, 3), mode="replicate"),
            F.pad(x, (-1, 2)),
        ),
        IMAGE,
    ),
    "padding integers": _case(lambda n: F.pad(n, (1, 1), value=7), N),
    "embedding": _case(_seeded(lambda: nn.Embedding(5, 6)), IDS),
    "picking rows": _case(lambda x, i: x.index_select(1, i[0]) + x[:, i[1]], X, IDS),
    "picking along an axis": _case(lambda x, i: x[:, :, :3].gather(1, i[:, None, :]), X, IDS),
    "picking by two indices": _case(lambda x, i: x[i[:, :2], i[:, :2] - 1], X, IDS % 2),
    "placing along an axis": _case(
        lambda x, i: x.scatter(2, i[..., None], 7.0) + x.scatter_add(2, i[..., None], x[..., :1]), X, IDS
    ),
    "the largest": _case(lambda x: x.topk(2, -1), X),
    "sorting": _case(lambda x: (*x.sort(-1), x.argsort(1, descending=True)), X),
    "one hot": _case(lambda i: F.one_hot(i, 4), IDS),
    "views": _case(lambda x, y: x.reshape(2, 12).view(2, 3, 4).flatten(1).unsqueeze(0).squeeze(0).unflatten(1, (3, 4))),
    "squeezing": _case(
        lambda x: x[:, :1].squeeze(1) + x[:1, :, :].squeeze().sum() + x[:, :1, :1].squeeze((1, 2)).sum(), X
    ),
    "permutations": _case(lambda x, y: x.permute(2, 0, 1) + y.transpose(0, 2).transpose(1, 2) + x.movedim(-1, 0)),
    "turning": _case(lambda x: x[0].t() + x.mT[0] + x.swapaxes(1, 2)[1], X),
    "slices": _case(lambda x, y: x[:, 1:] + y[:, :-1] + x[:, -2:] + y[:, :2, 0:1] + x.narrow(1, 1, 2)),
    "strides": _case(lambda x, y: x[..., 0::2] + y[..., 1::2]),
    "selections": _case(lambda x, y: x[:, 1] + y[:, -1]),
    "joins": _case(lambda x, y: torch.cat((x, y), -1).chunk(4, dim=-1)[2] + torch.stack((x, y), -1).sum(-1)[..., :2]),
    "splits": _case(lambda x, y: x.split([1, 3], dim=-1)[1] + y.split(3, dim=-1)[0] + sum(x.unbind(0))[..., :3]),
    "expansion": _case(lambda x, y: x[:, :1].expand(2, 3, 4) + y.repeat(1, 1, 1) + x[:, :1].expand_as(y)),
    "repetition": _case(lambda x, y: x.repeat_interleave(2, dim=-1) + y.repeat(1, 1, 2) + x[0].tile(2, 1, 2)),
    "reversal": _case(lambda x, y: x.flip(1) + y.roll(1, -1) + x.roll((1, -1), (0, 2))),
    "triangles": _case(lambda x: x.tril() + x.triu(1) + (x > 0).tril(-1), SQUARE),
    "parts in place": _case(
        lambda x, y: aten.slice_scatter(x, y[:, :, :2], 2, 1, 3) + aten.select_scatter(x, y[:, 0], 1, 1)
    ),
    "likes": _case(
        lambda x, y: x + torch.zeros_like(y) + torch.ones_like(x) * y.new_full((1,), 2.0) + torch.full_like(x, 3)
    ),
    "attention": _case(
        lambda x, y: (
            F.scaled_dot_product_attention(x[None], y[None], x[None])
            + F.scaled_dot_product_attention(x[None], y[None], x[None], is_causal=True, scale=0.3)
        )
    ),
    "attention with a mask": _case(
        lambda x, y: (
            F.scaled_dot_product_attention(x[None], y[None], x[None], (y[0] > -1)[:, :3])
            + F.scaled_dot_product_attention(x[None], y[None], x[None], x[:, :, :3])
        )
    ),
    "attention with shared keys": _case(
        lambda x, y: F.scaled_dot_product_attention(x[None], y[None, :1], x[None, 1:], enable_gqa=True)
    ),
    "dropout": _case(_seeded(lambda: nn.Sequential(nn.Dropout(0.5), nn.Dropout2d(0.5))), IMAGE),
}

CORE = {
    "core convolution": CASES["conv2d"],
    "core transposed convolution": CASES["transposed convolution"],
    "core linear": CASES["linear"],
    "core norms": _case(
        _seeded(lambda: nn.Sequential(nn.Conv2d(4, 4, 1), nn.GroupNorm(2, 4), nn.BatchNorm2d(4), nn.LayerNorm(6))),
        IMAGE,
    ),
    "core attention": CASES["attention"],
    "core pooling": _case(lambda x: F.max_pool2d(x, 2) + F.adaptive_avg_pool2d(x, (4, 3)), IMAGE),
    "core softmax": CASES["softmax"],
    "core activations": CASES["activations"],
    "core slices": CASES["slices"],
    "core padding": CASES["padding"],
    "core enlarging": _case(lambda x: F.interpolate(x, scale_factor=2), IMAGE),
    "core matmul": CASES["matmul"],
    "core reductions": CASES["spread"],
    "core squeezing": CASES["squeezing"],
    "core types": CASES["types"],
}
"""Modules whose graphs are decomposed to core ATen first, as files of ``torch.export.save`` may be."""

"""Each operation of the table against torch, through the recorded program."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812

from recorder import Interpreter, Recorder
from torch_ane.export import export_for_ane, weights_of
from torch_ane.lowering import Context, LoweringError, Value, lower
from torch_ane.lowering.context import Function


def lowered(module, *inputs):
    """(recorded function, outputs of the interpreter)"""
    exported = export_for_ane(module.eval(), inputs)
    program, weights = Recorder(), weights_of(module)
    for name, tensor in weights.items():
        data = tensor.detach().contiguous()
        program.tensor(name, "fp32", list(data.shape), data.data_ptr(), data.numel() * 4, "other")
    sink = program.function("main", "ios18")
    values = [Value(sink.input(f"x{i}", "fp32", list(x.shape)), tuple(x.shape)) for i, x in enumerate(inputs)]
    context = Context(Function(sink, "fp32"))
    results = lower(context, exported.graph, values, lambda n: Value(sink.weight(n), tuple(weights[n].shape)))
    sink.done({f"y{i}": result.handle for i, result in enumerate(results)})
    found = Interpreter(program).run("main", {f"x{i}": x for i, x in enumerate(inputs)}, {})
    return sink, list(found.values())


class Lambda(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


CASES = {
    "arithmetic": lambda x, y: (x + y) * (x - y) / (y * y + 2) - 3 + 2 * x,
    "numbers on the left": lambda x, y: 1 - x * 0.5 + 2 / (y * y + 1) if False else 1 - x * 0.5,
    "alpha": lambda x, y: torch.add(x, y, alpha=0.5) - torch.sub(x, y, alpha=2),
    "powers": lambda x, y: x**2 + (y * y + 1) ** 0.5 + torch.rsqrt(x * x + 1) + torch.square(y),
    "sides": lambda x, y: torch.maximum(x, y) + torch.minimum(x, y) - (-x),
    "activations": lambda x, y: (
        F.silu(x) + F.gelu(y) + F.gelu(x, approximate="tanh") + torch.sigmoid(y) + torch.tanh(x)
    ),
    "clamps": lambda x, y: x.clamp(-0.5, 0.5) + y.clamp(min=0.1) + x.clamp(max=0.2),
    "softplus": lambda x, y: F.softplus(x),
    "softmax": lambda x, y: x.softmax(-1) + y.softmax(1),
    "reductions": lambda x, y: x.mean(-1, keepdim=True) + y.sum((1, 2), keepdim=True) + x.amax(1, keepdim=True),
    "matmul": lambda x, y: torch.matmul(x, y.transpose(-1, -2)),
    "views": lambda x, y: x.reshape(2, 12).view(2, 3, 4).flatten(1).unsqueeze(0).squeeze(0),
    "permutations": lambda x, y: x.permute(2, 0, 1) + y.transpose(0, 2).transpose(1, 2),
    "slices": lambda x, y: x[:, 1:] + y[:, :-1] + x[:, -2:] + y[:, :2, 0:1],
    "strides": lambda x, y: x[..., 0::2] + y[..., 1::2],
    "selections": lambda x, y: x[:, 1] + y[:, -1],
    "joins": lambda x, y: torch.cat((x, y), -1).chunk(4, dim=-1)[2] + torch.stack((x, y), -1).sum(-1)[..., :2],
    "splits": lambda x, y: x.split([1, 3], dim=-1)[1] + y.split(3, dim=-1)[0],
    "expansion": lambda x, y: x[:, :1].expand(2, 3, 4) + y.repeat(1, 1, 1),
    "repetition": lambda x, y: x.repeat_interleave(2, dim=-1) + y.repeat(1, 1, 2),
    "float types": lambda x, y: x.float() + y.to(torch.float32).type_as(x),
}


@pytest.mark.parametrize("case", CASES)
def test_operation(case):
    torch.manual_seed(3)
    inputs = torch.randn(2, 3, 4), torch.randn(2, 3, 4)
    _, (found,) = lowered(Lambda(CASES[case]), *inputs)
    assert torch.allclose(found, CASES[case](*inputs), rtol=1e-6, atol=1e-6)


def test_layers_with_weights():
    torch.manual_seed(3)
    module = nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.Linear(6, 5, bias=False))
    x = torch.randn(1, 3, 4)
    sink, (found,) = lowered(module, x)
    assert torch.allclose(found, module(x), atol=1e-6)
    assert sink.kinds() == ["linear", "layer_norm", "linear"]
    assert "bias" not in sink.operations[-1].operands


def test_convolutions():
    torch.manual_seed(3)
    module = nn.Conv2d(4, 6, (3, 1), stride=2, padding=(1, 0), groups=2)
    x = torch.randn(1, 4, 7, 5)
    _, (found,) = lowered(module, x)
    assert torch.allclose(found, module(x), atol=1e-6)


@pytest.mark.parametrize("heads", [2, 4])
def test_torchs_own_attention_is_the_group(heads):
    torch.manual_seed(3)
    q, k, v = torch.randn(1, 4, 5, 8), torch.randn(1, heads, 9, 8), torch.randn(1, heads, 9, 8)
    mask = torch.randn(1, 1, 5, 9)
    module = Lambda(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, enable_gqa=heads != 4))
    sink, (found,) = lowered(module, q, k, v, mask)
    assert torch.allclose(found, module(q, k, v, mask), atol=1e-6)
    assert list(sink.groups()) == ["sdpa#0"]


@pytest.mark.parametrize("up_first", [False, True])
def test_a_gated_activation_is_a_group_wherever_the_gate_stands(up_first):
    module = Lambda(lambda x, y: y * F.silu(x) if up_first else F.silu(x) * y)
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    y = y + 0
    sink, (found,) = lowered(Lambda(lambda x, y: module(x * 1.5, y + 1.0)), x, y)
    assert torch.allclose(found, F.silu(x * 1.5) * (y + 1), atol=1e-6)
    assert [(op.kind, op.composite) for op in sink.operations[-2:]] == [("silu", "swiglu#0"), ("mul", "swiglu#0")]


def test_an_activation_used_twice_is_no_gate():
    sink, (found,) = lowered(Lambda(lambda x: (a := F.silu(x)) * x + a), x := torch.randn(2, 3))
    assert torch.allclose(found, F.silu(x) * x + F.silu(x), atol=1e-6)
    assert not sink.groups()


def test_an_unknown_operation_is_refused_by_name_with_its_module():
    class Odd(nn.Module):
        def forward(self, x):
            return torch.linalg.det(x)

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.odd = Odd()

        def forward(self, x):
            return self.odd(x)

    with pytest.raises(LoweringError, match=r"no lowering to MIL for aten\.linalg_det\.default from odd \(Odd\)"):
        lowered(Outer(), torch.eye(3))


@pytest.mark.parametrize("causal", [True, False])
def test_attention_without_a_mask(causal):
    torch.manual_seed(3)

    def attend(x):
        return F.scaled_dot_product_attention(x, x + 1, x - 1, is_causal=causal)

    x = torch.randn(1, 2, 3, 4)
    _, (found,) = lowered(Lambda(attend), x)
    assert torch.allclose(found, attend(x), atol=1e-6)

"""Graphs: run, generalised over sizes, refused where they are wrong."""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from recorder import Recorder
from torch_ane.export import ExportError, _export, export_for_ane, graph_of
from torch_ane.graph import NotUniformError, Size, generalise
from torch_ane.llm._trace import Traced

A, B = {"Q": 5, "M": 11}, {"Q": 7, "M": 17}


class Scores(torch.nn.Module):
    """Something whose shapes depend on both sizes, and on neither."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x, keys):  # [1, Q, 8], [1, M, 8]
        q = self.linear(x).view(1, x.shape[1], 2, 4).transpose(1, 2)
        k = keys.view(1, keys.shape[1], 2, 4).permute(0, 2, 3, 1)
        both = torch.cat((q, q), dim=2)[:, :, : 2 * x.shape[1]]
        return torch.matmul(both, k).softmax(-1).flatten(0, 1)


def example(Q, M):  # noqa: N803
    torch.manual_seed(Q)
    return torch.randn(1, Q, 8), torch.randn(1, M, 8)


def test_a_graph_of_two_traces_holds_for_any_sizes():
    module = Scores().eval()
    graphs = [export_for_ane(module, example(**sizes)).graph for sizes in (A, B)]
    graph = generalise(*graphs, A, B)
    assert graph.sizes == ("Q", "M")
    assert any(Size("Q", 2) in node.shapes[0] for node in graph.nodes)
    inputs = example(8, 64)
    weights = {"linear.weight": module.linear.weight, "linear.bias": module.linear.bias}
    (found,) = graph.at(Q=8, M=64).run(inputs, weights)
    assert torch.equal(found, module(*inputs))


def test_a_module_that_computes_with_its_sizes_is_not_generalised():
    class Mean(torch.nn.Module):
        def forward(self, x, keys):
            return x.sum(1) / x.shape[1]

    graphs = [export_for_ane(Mean().eval(), example(**sizes)).graph for sizes in (A, B)]
    assert generalise(*graphs, A, B).at(Q=8, M=9).nodes[-1].args[1] == 8

    class Root(torch.nn.Module):
        def forward(self, x, keys):
            return x.sum(1) / x.shape[1] ** 0.5

    graphs = [export_for_ane(Root().eval(), example(**sizes)).graph for sizes in (A, B)]
    with pytest.raises(NotUniformError, match=r"div .* has 2\.236"):
        generalise(*graphs, A, B)


def test_a_module_with_another_graph_at_another_size_is_not_generalised():
    class Branch(torch.nn.Module):
        def forward(self, x, keys):
            return torch.relu(x) if x.shape[1] > 6 else torch.tanh(x)

    graphs = [export_for_ane(Branch().eval(), example(**sizes)).graph for sizes in (A, B)]
    with pytest.raises(NotUniformError, match="tanh is aten.tanh.default in one trace and aten.relu.default"):
        generalise(*graphs, A, B)


def test_the_export_keeps_what_engines_do_well_whole():
    class Whole(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear, self.conv = torch.nn.Linear(8, 8), torch.nn.Conv2d(2, 4, 3)
            self.layer, self.group = torch.nn.LayerNorm(8), torch.nn.GroupNorm(2, 4)

        def forward(self, x, image):
            x = torch.nn.functional.gelu(torch.nn.functional.silu(self.layer(self.linear(x))))
            x = torch.nn.functional.scaled_dot_product_attention(x, x, x).softmax(-1)
            return x, self.group(self.conv(image))

    graph = export_for_ane(Whole().eval(), (torch.randn(1, 2, 5, 8), torch.randn(1, 2, 6, 6))).graph
    assert [node.op.split(".")[1] for node in graph.nodes] == [
        "linear",
        "layer_norm",
        "silu",
        "gelu",
        "scaled_dot_product_attention",
        "softmax",
        "conv2d",
        "group_norm",
    ]


def test_a_tensor_that_is_no_weight_is_refused():
    class Hidden(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.rows = [torch.ones(4)]  # torch does not know of it

        def forward(self, x):
            return x * self.rows[0]

    with pytest.raises(
        ExportError, match=r"has the constant .* \(a tensor of shape \[4\]\) .* register it as a buffer"
    ):
        export_for_ane(Hidden().eval(), (torch.ones(2, 4),))


def test_a_fake_tensor_among_the_constants_is_refused():
    class Scaled(torch.nn.Module):
        def forward(self, x):
            return x * torch.tensor(3.0)

    program = _export(Scaled().eval(), (torch.ones(2, 4),))
    with FakeTensorMode():
        program._constants["lifted_tensor_0"] = torch.ones(())
    with pytest.raises(ExportError, match="lifted_tensor_0 of the exported graph is a FakeTensor"):
        graph_of(program)


def test_a_scalar_made_in_the_forward_is_a_constant():
    class Scaled(torch.nn.Module):
        def forward(self, x):
            return x * torch.tensor(3.0)

    exported = export_for_ane(Scaled().eval(), (torch.ones(2, 4),))
    assert [float(value) for value in exported.graph.constants.values()] == [3.0]
    assert exported.difference == 0


def test_an_export_that_differs_from_eager_is_refused_with_the_number():
    class Fickle(torch.nn.Module):
        calls = 0

        def forward(self, x):
            type(self).calls += 1
            return x * (1.0 if type(self).calls <= 1 else 1.5)

    with pytest.raises(ExportError, match=r"the export of Fickle differs from eager by 0\.333 in result 0"):
        export_for_ane(Fickle().eval(), (torch.ones(2, 4),))


def test_a_module_that_is_not_generalised_is_traced_for_each_size():
    class Root(torch.nn.Module):
        def forward(self, x, keys):
            return x.sum(1) / x.shape[1] ** 0.5

    traced = Traced(Root().eval(), lambda sizes: example(**sizes), Recorder())
    assert (traced.general, traced.traces) == (False, 2)
    inputs = example(9, 64)
    (found,) = traced.at(9, 64).run(inputs, {})
    assert torch.equal(found, inputs[0].sum(1) / 3)
    traced.at(9, 64)
    assert traced.traces == 3

"""A model in chunks computes what the model computes."""

import json

import pytest
import torch

from conftest import OPTIONS
from generation import Session
from models import tiny
from recorder import Interpreter, Recorder
from torch_ane import host
from torch_ane.graph import Graph, Node, Ref
from torch_ane.llm import UnsupportedModelError
from torch_ane.llm.chunks import cut


class Chunks(Recorder):
    """A recorder whose weights are a real model's, whatever shape the template gave them."""

    def __init__(self, model, described):
        super().__init__()
        self.model, self.described = dict(model.named_parameters(remove_duplicate=False)), described

    def weight(self, name):
        weight = next(each for each in self.described if each["name"] == name)
        return self.model[name] * weight["factor"] + weight["offset"]


def chunked(model, spans, **options):
    """The description of a model, a recorded program for each span of layers, and the head's."""
    export = host.begin_chunks(json.dumps(model.config.to_dict()), json.dumps({**OPTIONS, **options}), Recorder())
    described = json.loads(host.describe_chunks(export))
    programs = []
    for first, count in spans:
        programs.append(Chunks(model, described["weights"]))
        host.send_layers(export, programs[-1], first, count)
    programs.append(Chunks(model, described["weights"]))
    host.send_head(export, programs[-1])
    return described, programs


class OneAfterAnother:
    """Runs chunks as one interpreter."""

    def __init__(self, programs, precision="fp32"):
        self.interpreters = [Interpreter(program, precision) for program in programs]
        self.precision = self.interpreters[0].precision
        self.states = [{} for _ in programs]

    def run(self, name, given, _states):
        for interpreter, states in zip(self.interpreters, self.states, strict=True):
            function = interpreter.program.functions[name]
            for state, handle in function.states.items():
                states.setdefault(state, torch.zeros(handle.shape, dtype=self.precision))
            result = interpreter.run(name, {key: given[key] for key in function.inputs}, states)
            given = {**given, "emb": result.get("hidden")}
        return result


@pytest.mark.parametrize("family", ["llama", "llama-tied-biased", "mistral", "qwen3", "gemma3", "granite"])
def test_chunks_one_after_another_answer_the_models_own_logits(family):
    model = tiny(family)
    described, programs = chunked(model, [(0, 2), (2, 1)])
    session = Session(programs[0], described, model)
    session.interpreter = OneAfterAnother(programs)
    ids = [(7 * n + 3) % 97 for n in range(14)]
    session.feed(ids[:11], 0)
    found = session.feed(ids[8:], 8)
    expected = model(input_ids=torch.tensor([ids])).logits[0, -1]
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_chunks_of_fp16_differ_by_its_rounding():
    model = tiny("llama")
    described, programs = chunked(model, [(0, 1), (1, 2)], precision="fp16")
    session = Session(programs[0], described, model, "fp16")
    session.interpreter = OneAfterAnother(programs, "fp16")
    ids = [(7 * n + 3) % 97 for n in range(8)]
    found = session.feed(ids, 0).float()
    expected = model(input_ids=torch.tensor([ids])).logits[0, -1]
    torch.testing.assert_close(found, expected, rtol=0, atol=0.01 * expected.abs().max().item())


def test_a_model_whose_later_layers_read_the_embeddings_cannot_be_cut():
    def node(name, op, *args):
        return Node(name, op, None, args, {}, ((1, 4, 8),), (torch.float32,), "", name)

    layer = "torch_ane.layer.default"
    first = node("first", layer, Ref("emb"), None, None, None, 0)
    again = node("again", "aten.add.Tensor", Ref("first"), Ref("emb"))
    second = node("second", layer, Ref("again"), None, None, None, 1)
    graph = Graph(("emb",), {}, {}, (first, again, second), (Ref("second"),))
    assert [each.name for each in cut(graph, 0, 1).nodes] == ["first"]
    with pytest.raises(UnsupportedModelError, match="behind layer 0 the model reads more .*again"):
        cut(graph, 1, 2)


def test_layers_of_one_kind_have_one_program(gemma3):
    model, *_ = gemma3
    described, programs = chunked(model, [(0, 1), (2, 1)])
    assert described["kinds"] == [0, 1, 0]
    first, third, _ = programs
    for name, function in first.functions.items():
        other = third.functions[name]
        assert function.kinds() == other.kinds()
        assert [each.replace("layers.0.", "layers.2.") for each in function.weights] == list(other.weights)
        assert list(function.inputs) == list(other.inputs)
        assert function.states.keys() == {"key_cache", "value_cache"}
        assert function.states["key_cache"].shape[0] == 1


def test_only_the_head_reads_pick_and_only_layers_have_states(llama):
    model, *_ = llama
    _, (layers, head) = chunked(model, [(0, 3)])
    assert list(layers.functions["decode_24"].inputs) == ["emb", "cos", "sin", "mask", "step"]
    assert list(layers.functions["decode_24"].outputs) == ["hidden"]
    assert list(head.functions["decode_24"].inputs) == ["emb", "pick"]
    assert not head.functions["decode_24"].states
    assert list(head.functions["decode_24"].outputs) == ["logits"]


def test_a_weight_that_passes_change_says_how(gemma3):
    model, *_ = gemma3
    described, _ = chunked(model, [])
    changes = {each["name"]: (each["factor"], each["offset"]) for each in described["weights"]}
    assert changes["model.norm.weight"] == (1.0, 1.0)
    assert changes["model.layers.1.mlp.up_proj.weight"] == (1.0, 0.0)


def test_a_template_is_small_where_nothing_but_products_depends_on_it():
    model = tiny("llama", vocab_size=997, intermediate_size=888)
    described, _ = chunked(model, [])
    shapes = {each["name"]: each["shape"] for each in described["weights"]}
    assert shapes["model.embed_tokens.weight"] == [64, 48]
    assert shapes["model.layers.0.mlp.down_proj.weight"] == [48, 96]
    assert shapes["model.layers.0.self_attn.q_proj.weight"] == [48, 48]

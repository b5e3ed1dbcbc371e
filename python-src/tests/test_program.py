"""The program is what docs/architecture.md promises."""

import torch


def parameters(operation):
    return list(operation.operands)


def test_each_rung_has_a_prefill_and_a_decode_function(llama):
    _, program, manifest = llama
    assert list(program.functions) == ["prefill_24", "decode_24", "prefill_32", "decode_32"]
    assert {function.opset for function in program.functions.values()} == {"ios18"}
    assert manifest["model"]["ladder"] == [24, 32]
    assert manifest["model"]["maxLen"] == 32
    assert (manifest["model"]["prefillWindow"], manifest["model"]["decodeWindow"]) == (16, 8)


def test_inputs_and_states_have_the_types_of_the_contract(llama):
    _, program, _ = llama
    function = program.functions["prefill_24"]
    assert {name: (h.dtype, h.shape) for name, h in function.inputs.items()} == {
        "emb": ("fp32", (1, 16, 48)),
        "cos": ("fp32", (1, 16, 8)),
        "sin": ("fp32", (1, 16, 8)),
        "mask": ("fp32", (1, 1, 16, 24)),
        "step": ("int32", (1,)),
        "pick": ("fp32", (1, 16)),
    }
    assert {name: (h.dtype, h.shape) for name, h in function.states.items()} == {
        "key_cache": ("fp32", (3, 1, 2, 24, 8)),
        "value_cache": ("fp32", (3, 1, 2, 24, 8)),
    }
    assert list(function.outputs) == ["logits"]


def test_a_model_with_two_bases_and_a_sliding_window_has_local_inputs(gemma3):
    _, program, manifest = gemma3
    function = program.functions["decode_32"]
    assert list(function.inputs) == [
        "emb",
        "cos",
        "sin",
        "cos_local",
        "sin_local",
        "mask",
        "mask_local",
        "step",
        "pick",
    ]
    axes = dict.fromkeys(("emb", "cos", "sin", "cos_local", "sin_local", "pick"), 1)
    assert manifest["rowAxes"] == {**axes, "mask": 2, "mask_local": 2}
    assert manifest["model"]["slidingWindow"] == 4
    assert manifest["rope"]["local"]["inverseFrequencies"] != manifest["rope"]["global"]["inverseFrequencies"]
    assert manifest["embedding"]["multiplier"] == 48**0.5 or abs(manifest["embedding"]["multiplier"] - 48**0.5) < 1e-6


def test_groups_are_the_exact_lists_of_the_contract(llama):
    _, program, _ = llama
    function = program.functions["decode_24"]
    found = {tag.split("#")[0]: [op.kind for op in operations] for tag, operations in function.groups().items()}
    assert found == {
        "rms_norm": ["mul", "reduce_mean", "rsqrt", "mul", "mul"],
        "rope": ["slice_by_index", "slice_by_index", "mul", "concat", "mul", "mul", "add"],
        "sdpa": ["mul", "reshape", "expand_dims", "expand_dims", "matmul", "add", "softmax", "matmul", "reshape"],
        "swiglu": ["silu", "mul"],
    }
    counts = [tag.split("#")[0] for tag in function.groups()]
    assert {kind: counts.count(kind) for kind in counts} == {"rms_norm": 7, "rope": 6, "sdpa": 3, "swiglu": 3}


def test_group_members_stand_together_so_that_each_group_is_one_step(llama):
    _, program, _ = llama
    tags = [op.composite for op in program.functions["decode_24"].operations]
    runs = [tag for tag, before in zip(tags, [None, *tags], strict=False) if tag and tag != before]
    assert len(runs) == len(set(runs))


def test_an_fp16_program_casts_inside_norms_only(llama_fp16):
    _, program, _ = llama_fp16
    function = program.functions["decode_24"]
    casts = [op for op in function.operations if op.kind == "cast"]
    assert {op.composite.split("#")[0] for op in casts} == {"rms_norm"}
    norm = next(ops for tag, ops in function.groups().items() if tag.startswith("rms_norm"))
    assert [op.kind for op in norm] == ["cast", "mul", "reduce_mean", "rsqrt", "mul", "cast", "mul"]
    assert {h.dtype for name, h in function.inputs.items() if name != "step"} == {"fp16"}


def test_operations_are_named_after_the_modules_they_come_from(llama):
    _, program, _ = llama
    names = [op.name for op in program.functions["decode_24"].operations if op.kind == "linear"]
    assert names[:7] == [
        *(f"layers_0_self_attn_{part}_proj" for part in "qkvo"),
        *(f"layers_0_mlp_{part}_proj" for part in ("gate", "up", "down")),
    ]
    assert names[-1] == "lm_head"
    assert all(op.name.isidentifier() for op in program.functions["decode_24"].operations)


def test_a_state_is_read_updated_written_and_read_anew(llama):
    _, program, _ = llama
    function = program.functions["decode_24"]
    for name in ("key_cache", "value_cache"):
        state = function.states[name]
        found = []
        for before, op in zip(function.operations, function.operations[1:], strict=False):
            if op.kind in ("read_state", "write_state") and op.operands["input"] is state:
                found.append("update and write" if before.kind == "slice_update" else op.kind)
        assert found == ["read_state", "update and write", "read_state"] * 3


def test_begin_and_end_are_concats_of_constants_and_step(llama):
    _, program, _ = llama
    function = program.functions["decode_24"]
    made = {op.results[0].number: op for op in function.operations if op.results}
    updates = [op for op in function.operations if op.kind == "slice_update"]
    begins = [made[op.operands["begin"].number] for op in updates]
    assert {op.kind for op in begins} == {"concat"}
    last = [function.constants.get(h.number, "step") for h in begins[-1].operands["values"]]
    assert last == [[2], [0], [0], "step", [0]]
    assert begins[0] is begins[1], "keys and values of a layer share it"


def test_every_weight_is_sent_once_and_a_tied_head_is_an_alias(llama):
    model, program, manifest = llama
    assert program.aliases == {"lm_head.weight": "model.embed_tokens.weight"}
    assert program.roles["model.embed_tokens.weight"] == "embedding"
    assert program.roles["model.layers.2.mlp.down_proj.weight"] == "linear"
    assert program.roles["model.layers.2.mlp.down_proj.bias"] == "other"
    assert program.roles["model.norm.weight"] == "other"
    expected = dict(model.named_parameters())
    assert program.tensors.keys() == expected.keys()
    assert all(torch.equal(program.tensors[name], tensor) for name, tensor in expected.items())
    assert manifest["embedding"]["weight"] == "model.embed_tokens.weight"


def test_each_kind_of_layer_is_traced_once_for_all_windows_and_rungs(llama, gemma3):
    assert llama[2]["report"]["kinds"] == 1
    assert gemma3[2]["report"]["kinds"] == 2
    assert llama[2]["report"]["traces"] == 4


def test_progress_counts_to_its_totals(llama):
    _, program, _ = llama
    totals = {stage: (total, done) for stage, total, done in program.stages if total}
    assert "weights" in totals and "lower decode_24" in totals
    assert all(total == done for total, done in totals.values()), totals


def test_the_model_itself_is_left_as_it_was(llama):
    model, _, _ = llama
    assert model.config._attn_implementation == "eager"
    assert type(model.model.norm).__name__ == "LlamaRMSNorm"
    assert type(model.model.layers[0]).__name__ == "LlamaDecoderLayer"

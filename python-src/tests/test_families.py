"""A model of each family, exported and run by the interpreter, gives transformers' own logits."""

import pytest
import torch

from conftest import export
from generation import Session
from models import FAMILIES, tiny

IDS = [(31 * n + 5) % 97 for n in range(27)]


@torch.no_grad()
def logits_of(model) -> torch.Tensor:
    return model(input_ids=torch.tensor([IDS])).logits[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_prefill_and_decode_over_states_give_transformers_logits(family):
    model = tiny(family)
    program, manifest = export(model)
    expected = logits_of(model)
    assert expected.std() > 1e-2, "the test model is not trivial"
    scale = expected.abs().max().clamp(min=1)
    for rung in (32, 24):
        session = Session(program, manifest, model, rung=rung)
        for start, stop in ((0, 16), (16, 21), (16, 24), (24, 27)):  # the second decode window rewrites its tail
            if stop <= rung:
                logits = session.feed(IDS[start:stop], start)
                assert (logits - expected[stop - 1]).abs().max() <= 1e-5 * scale, (rung, start, stop)


@pytest.mark.parametrize("target", ["gpu", "ane"])
def test_every_target_computes_the_same(target):
    model = tiny("gemma3")
    program, manifest = export(model, target=target)
    expected = logits_of(model)
    logits = Session(program, manifest, model).feed(IDS[:16], 0)
    assert (logits - expected[15]).abs().max() <= 1e-5 * expected.abs().max()
    kinds = program.functions["decode_24"].kinds()
    assert kinds.count("conv") == (3 * 7 if target == "ane" else 0)


def test_an_fp16_program_is_close(llama_fp16):
    model, program, manifest = llama_fp16
    expected = logits_of(model)
    logits = Session(program, manifest, model, precision="fp16").feed(IDS[:16], 0)
    assert logits.dtype == torch.float16
    assert (logits - expected[15]).abs().max() <= 2e-2 * expected.abs().max()


def test_rows_of_a_batch_function_belong_to_streams_of_their_own():
    model = tiny("llama-tied-biased")
    program, manifest = export(model, batch=True)
    assert list(program.functions) == [f"{kind}_{rung}" for rung in (24, 32) for kind in ("prefill", "decode", "batch")]
    assert "pick" not in program.functions["batch_24"].inputs
    streams = [IDS[:3], IDS[7:9], IDS[11:14]]
    logits = Session(program, manifest, model).step(streams)
    with torch.no_grad():
        expected = torch.cat([model(input_ids=torch.tensor([ids])).logits[0] for ids in streams])
    assert logits.shape == expected.shape == (8, 97)
    assert (logits - expected).abs().max() <= 1e-5 * expected.abs().max()

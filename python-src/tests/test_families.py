"""A model of each family, exported and run by the interpreter, gives transformers' own logits."""

import json

import pytest
import torch
from generation import Session
from models import FAMILIES, tiny
from recorder import Recorder

from torch_ane import host

OPTIONS = {"maxLen": 32, "prefillWindow": 16, "ladder": [24, 512]}
IDS = [(31 * n + 5) % 97 for n in range(27)]


def export(model, **options):
    program = Recorder()
    text = host.export_causal_lm(model, json.dumps({**OPTIONS, **options}), program, program, program)
    return program, json.loads(text)


@pytest.mark.parametrize("family", FAMILIES)
def test_prefill_and_decode_over_states_give_transformers_logits(family):
    model = tiny(family)
    program, manifest = export(model)
    with torch.no_grad():
        expected = model(input_ids=torch.tensor([IDS])).logits[0]
    scale = expected.abs().max().clamp(min=1)
    assert expected.std() > 1e-2, "the test model is not trivial"
    for rung in (32, 24):
        session = Session(program, manifest, model, rung=rung)
        for start, stop in ((0, 16), (16, 21), (16, 24), (24, 27)):  # the second decode window rewrites its tail
            if stop <= rung:
                logits = session.feed(IDS[start:stop], start)
                assert (logits - expected[stop - 1]).abs().max() <= 1e-5 * scale, (rung, start, stop)


@pytest.mark.parametrize("family", ["llama", "gemma3"])
def test_an_fp16_program_is_close(family):
    model = tiny(family)
    program, manifest = export(model, precision="fp16")
    with torch.no_grad():
        expected = model(input_ids=torch.tensor([IDS])).logits[0]
    session = Session(program, manifest, model, precision="fp16")
    logits = session.feed(IDS[:16], 0)
    assert logits.dtype == torch.float16
    assert (logits - expected[15]).abs().max() <= 2e-2 * expected.abs().max()

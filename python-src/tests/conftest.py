"""Shared pieces: exports are made once for the tests that only look at them."""

import json

import pytest

from models import tiny
from recorder import Recorder
from torch_ane import host

OPTIONS = {"maxLen": 32, "prefillWindow": 16, "ladder": [24, 512]}


def export(model, **options):
    """The recorded program and the manifest of a model."""
    program = Recorder()
    text = host.export_causal_lm(model, json.dumps({**OPTIONS, **options}), program, program, program)
    return program, json.loads(text)


@pytest.fixture(scope="session")
def llama():
    """(model, program, manifest) of a tied Llama."""
    model = tiny("llama-tied-biased")
    return model, *export(model)


@pytest.fixture(scope="session")
def llama_fp16():
    model = tiny("llama")
    return model, *export(model, precision="fp16")


@pytest.fixture(scope="session")
def gemma3():
    model = tiny("gemma3")
    return model, *export(model)

"""Each architecture through the recorded program, against torch."""

import pytest
import torch

from architectures import ARCHITECTURES
from modules import compiled, difference

DIFFUSERS = ("unet", "vae_decoder", "vae_encoder")


@pytest.mark.parametrize("name", ARCHITECTURES)
def test_an_architecture_gives_torchs_numbers(name):
    if name in DIFFUSERS:
        pytest.importorskip("diffusers")
    torch.manual_seed(5)
    module, inputs, *method = ARCHITECTURES[name]()
    found = compiled(module, *method, **inputs)
    assert difference(found) < 2e-5

"""Attention in the Neural Engine's layout gives the numbers of diffusers' own."""

import pytest
import torch

from modules import compiled, difference, options
from recorder import Recorder
from torch_ane.module import LoadedModule, ModuleExport
from torch_ane.module._attention import SplitAttention

diffusers = pytest.importorskip("diffusers")


def attention(**options):
    from diffusers.models.attention_processor import Attention

    torch.manual_seed(2)
    return Attention(query_dim=16, heads=2, dim_head=8, **options).eval()


def both(attn, *inputs):
    with torch.no_grad():
        expected = attn(*inputs)
        attn.set_processor(SplitAttention())
        return (attn(*inputs) - expected).abs().max()


@pytest.mark.parametrize("positions", [1, 64, 1024, 1100])
def test_self_attention_in_chunks_and_whole(positions):
    assert both(attention(), torch.randn(2, positions, 16)) < 1e-5


def test_attention_to_a_text():
    assert both(attention(cross_attention_dim=12), torch.randn(2, 64, 16), torch.randn(2, 77, 12)) < 1e-5


def test_attention_of_a_picture_with_norm_and_residual():
    attn = attention(norm_num_groups=4, residual_connection=True, rescale_output_factor=1.5, bias=True)
    assert both(attn, torch.randn(2, 16, 6, 4)) < 1e-5


def test_a_mask_is_refused():
    attn = attention()
    attn.set_processor(SplitAttention())
    with pytest.raises(ValueError, match="mask"):
        attn(torch.randn(1, 4, 16), attention_mask=torch.zeros(1, 4, 4))


def small_unet():
    torch.manual_seed(3)
    return diffusers.UNet2DConditionModel(
        sample_size=8,
        block_out_channels=(8, 16),
        layers_per_block=1,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
        cross_attention_dim=12,
        attention_head_dim=4,
        norm_num_groups=4,
    ).eval()


def test_the_target_ane_has_a_softmax_for_each_head_where_the_target_cpu_has_attention_as_one_operation():
    inputs = {
        "sample": torch.randn(1, 4, 8, 8),
        "timestep": torch.tensor([3.0]),
        "encoder_hidden_states": torch.randn(1, 7, 12),
    }
    count = {}
    for target in ("cpu", "ane"):
        program = Recorder()
        export = ModuleExport(LoadedModule(small_unet()), options(inputs, target=target), program)
        export.send_weights(program)
        export.send_functions(program)
        kinds = [operation.kind for operation in program.functions["main"].operations]
        count[target] = kinds.count("softmax"), kinds.count("scaled_dot_product_attention")
    attentions = [each for each in small_unet().modules() if type(each).__name__ == "Attention"]
    assert count == {"cpu": (0, len(attentions)), "ane": (sum(each.heads for each in attentions), 0)}


def test_the_program_gives_torchs_numbers():
    unet = small_unet()
    unet.set_attn_processor(SplitAttention())
    inputs = {
        "sample": torch.randn(1, 4, 8, 8),
        "timestep": torch.tensor([3.0]),
        "encoder_hidden_states": torch.randn(1, 7, 12),
    }
    assert difference(compiled(unet, **inputs)) < 1e-5

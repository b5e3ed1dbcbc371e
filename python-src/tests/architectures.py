"""Real architectures at a tiny size, with random weights: each is (module, method, inputs)."""

import torch

ARCHITECTURES = {}


def _architecture(function):
    ARCHITECTURES[function.__name__] = function
    return function


def ids(*shape: int) -> torch.Tensor:
    return torch.randint(3, 90, shape, generator=torch.Generator().manual_seed(7))


def image(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(8))


def _transformers(kind: str, config: str, **values):
    import transformers

    model = getattr(transformers, kind)(getattr(transformers, config)(**values)).eval()
    if getattr(model.config, "use_cache", False):
        model.config.use_cache = False
    return model


@_architecture
def vit():
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    return _transformers("ViTModel", "ViTConfig", image_size=32, patch_size=8, **sizes), {
        "pixel_values": image(2, 3, 32, 32)
    }


_CLIP = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}


@_architecture
def clip_text():
    model = _transformers(
        "CLIPTextModel", "CLIPTextConfig", vocab_size=99, max_position_embeddings=16, eos_token_id=98, **_CLIP
    )
    return model, {"input_ids": ids(2, 16)}


@_architecture
def clip_vision():
    model = _transformers("CLIPVisionModelWithProjection", "CLIPVisionConfig", image_size=32, patch_size=8, **_CLIP)
    return model, {"pixel_values": image(1, 3, 32, 32)}


@_architecture
def bert():
    model = _transformers("BertModel", "BertConfig", vocab_size=99, **_CLIP)
    mask = torch.ones(2, 12, dtype=torch.int64)
    mask[1, 7:] = 0
    return model, {"input_ids": ids(2, 12), "attention_mask": mask}


@_architecture
def distilbert():
    model = _transformers(
        "DistilBertModel", "DistilBertConfig", vocab_size=99, dim=32, n_layers=2, n_heads=4, hidden_dim=48
    )
    return model, {"input_ids": ids(1, 12), "attention_mask": torch.ones(1, 12, dtype=torch.int64)}


@_architecture
def t5_encoder():
    model = _transformers(
        "T5EncoderModel", "T5Config", vocab_size=99, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4
    )
    return model, {"input_ids": ids(1, 12)}


@_architecture
def whisper_encoder():
    model = _transformers(
        "WhisperModel",
        "WhisperConfig",
        d_model=32,
        encoder_layers=2,
        encoder_attention_heads=4,
        decoder_layers=1,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_source_positions=20,
        num_mel_bins=16,
        vocab_size=99,
        pad_token_id=0,
    ).encoder
    return model, {"input_features": image(1, 16, 40)}


@_architecture
def gpt2():
    model = _transformers(
        "GPT2LMHeadModel", "GPT2Config", vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=32
    )
    return model, {"input_ids": ids(2, 12)}


@_architecture
def resnet():
    model = _transformers(
        "ResNetForImageClassification",
        "ResNetConfig",
        embedding_size=8,
        hidden_sizes=[8, 12, 16, 20],
        depths=[2, 2, 2, 2],
        layer_type="basic",
        num_labels=5,
    )
    return model, {"pixel_values": image(2, 3, 64, 64)}


@_architecture
def mobilenet_v2():
    model = _transformers(
        "MobileNetV2ForImageClassification", "MobileNetV2Config", depth_multiplier=0.35, image_size=64, num_labels=5
    )
    for weight in model.parameters():  # as they are made, nothing of the picture would be left at the end
        if weight.ndim == 4:
            torch.nn.init.kaiming_normal_(weight)
    return model, {"pixel_values": image(1, 3, 64, 64)}


class _Inverted(torch.nn.Module):
    """MobileNetV3's block: widened, one filter for each channel, channels weighed, narrowed again."""

    def __init__(self, channels: int, wide: int, out: int, kernel: int, stride: int):
        super().__init__()
        nn = torch.nn
        self.widen = nn.Sequential(nn.Conv2d(channels, wide, 1, bias=False), nn.BatchNorm2d(wide), nn.Hardswish())
        self.filter = nn.Sequential(
            nn.Conv2d(wide, wide, kernel, stride, kernel // 2, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            nn.Hardswish(),
        )
        self.weigh = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(wide, 8, 1),
            nn.ReLU(inplace=True),
            nn.Conv2d(8, wide, 1),
            nn.Hardsigmoid(),
        )
        self.narrow = nn.Sequential(nn.Conv2d(wide, out, 1, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        y = self.filter(self.widen(x))
        y = self.narrow(y * self.weigh(y))
        return x + y if y.shape == x.shape else y


@_architecture
def mobilenet_v3():
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, 2, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.Hardswish(inplace=True),
        _Inverted(16, 32, 16, 3, 1),
        _Inverted(16, 48, 24, 5, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(24, 32),
        nn.Hardswish(),
        nn.Dropout(0.2),
        nn.Linear(32, 5),
    )
    return model.eval(), {"x": image(2, 3, 32, 32)}


@_architecture
def unet():
    from diffusers import UNet2DConditionModel

    model = UNet2DConditionModel(
        sample_size=16,
        block_out_channels=(16, 32, 32),
        layers_per_block=1,
        down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
        cross_attention_dim=24,
        attention_head_dim=4,
        norm_num_groups=8,
    ).eval()
    return model, {
        "sample": image(2, 4, 16, 16),
        "timestep": torch.tensor([481]),
        "encoder_hidden_states": image(2, 7, 24),
    }


def _autoencoder():
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=(16, 32),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
        latent_channels=4,
        layers_per_block=1,
        norm_num_groups=8,
    ).eval()


@_architecture
def vae_decoder():
    return _autoencoder(), {"z": image(1, 4, 8, 8)}, "decode"


@_architecture
def vae_encoder():
    return _autoencoder().encoder, {"sample": image(1, 3, 16, 16)}

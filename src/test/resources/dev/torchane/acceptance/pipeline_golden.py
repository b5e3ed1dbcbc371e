"""Writes pipeline/ (a small Stable Diffusion with random weights) and pipeline_golden.json: what diffusers makes of it.

Run with diffusers 0.42.1, transformers 5.24.0 and torch 2.6.0, ATEN_CPU_CAPABILITY=avx2, beside clip_golden.json of java-api."""

import base64
import json
import shutil
import tempfile
from pathlib import Path

import diffusers
import numpy as np
import torch
from diffusers import AutoencoderKL, PNDMScheduler, StableDiffusionImg2ImgPipeline, StableDiffusionPipeline
from diffusers import UNet2DConditionModel
from PIL import Image
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

HERE = Path(__file__).parent
CLIP = Path(__file__).parents[6] / "java-api/src/test/resources/dev/torchane/diffusion/clip_golden.json"
SIDE = 64
PROMPT, NEGATIVE = "a photo of the horse and a cat", "the dog"
CASES = [
    ("DPMSolverMultistepScheduler", {}, {}),
    ("DPMSolverMultistepScheduler", {"use_karras_sigmas": True}, {}),
    ("EulerDiscreteScheduler", {}, {}),
    ("EulerDiscreteScheduler", {"use_karras_sigmas": True}, {}),
    ("PNDMScheduler", {}, {}),
    ("DDIMScheduler", {}, {}),
    ("DDIMScheduler", {}, {"guidance": 1.0}),
    ("DDIMScheduler", {}, {"strength": 0.6}),
    ("PNDMScheduler", {}, {"strength": 0.6}),
]


def pipeline():
    torch.manual_seed(0)
    unet = UNet2DConditionModel(
        sample_size=SIDE // 8,
        in_channels=4,
        out_channels=4,
        layers_per_block=1,
        block_out_channels=(8, 16, 24),
        norm_num_groups=8,
        cross_attention_dim=24,
        attention_head_dim=4,
        down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
    )
    vae = AutoencoderKL(
        in_channels=3,
        out_channels=3,
        latent_channels=4,
        layers_per_block=1,
        block_out_channels=(8, 8, 16, 16),
        norm_num_groups=4,
        sample_size=SIDE,
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
    )
    text = CLIPTextModel(
        CLIPTextConfig(
            vocab_size=531,
            hidden_size=24,
            intermediate_size=48,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=77,
            bos_token_id=529,
            eos_token_id=530,
            pad_token_id=530,
        )
    )
    with torch.no_grad():
        for name, weight in unet.named_parameters():
            if weight.ndim > 1 and "attn" in name:
                weight *= 2
        unet.conv_out.weight *= 2
        vae.decoder.conv_out.weight *= 1.5
        text.get_input_embeddings().weight *= 25
    with tempfile.TemporaryDirectory() as folder:
        for file, content in json.loads(CLIP.read_text())[0]["files"].items():
            Path(folder, file).write_text(content)
        tokenizer = CLIPTokenizer.from_pretrained(folder)
        scheduler = PNDMScheduler(
            beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", skip_prk_steps=True, steps_offset=1
        )
        pipe = StableDiffusionPipeline(
            vae=vae,
            text_encoder=text,
            tokenizer=tokenizer,
            unet=unet,
            scheduler=scheduler,
            safety_checker=None,
            feature_extractor=None,
            requires_safety_checker=False,
        )
        target = HERE / "pipeline"
        shutil.rmtree(target, ignore_errors=True)
        pipe.to(torch.float16).save_pretrained(target)
        written = target / "scheduler/scheduler_config.json"  # with an entry of another scheduler, as Stable Diffusion 1.5 has it
        written.write_text(json.dumps({**json.loads(written.read_text()), "clip_sample": False}, indent=2) + "\n")
        shutil.rmtree(target / "tokenizer")
        shutil.copytree(folder, target / "tokenizer")


def picture():
    y, x = np.mgrid[0:SIDE, 0:SIDE]
    return Image.fromarray(np.stack([x * 4, y * 4, (x * y) % 256], axis=-1).astype(np.uint8))


def packed(values):
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode()


def run(name, extra, options):
    kind = StableDiffusionImg2ImgPipeline if "strength" in options else StableDiffusionPipeline
    pipe = kind.from_pretrained(HERE / "pipeline", torch_dtype=torch.float32, safety_checker=None)
    pipe.set_progress_bar_config(disable=True)
    pipe.scheduler = getattr(diffusers, name).from_config(pipe.scheduler.config, **extra)
    states = []

    def keep(pipe, step, timestep, values):
        states.append(packed(values["latents"].numpy().astype("<f4")))
        return {}

    given = {"image": picture(), "strength": options["strength"]} if "strength" in options else {"height": SIDE, "width": SIDE}
    image = pipe(
        PROMPT,
        negative_prompt=NEGATIVE,
        num_inference_steps=6,
        guidance_scale=options.get("guidance", 7.5),
        generator=torch.Generator().manual_seed(1234),
        callback_on_step_end=keep,
        **given,
    ).images[0]
    return {"class": name, **extra, **options, "latents": states, "pixels": packed(np.asarray(image))}


def main():
    pipeline()
    golden = {
        "versions": {"diffusers": diffusers.__version__, "torch": torch.__version__},
        "prompt": PROMPT,
        "negative": NEGATIVE,
        "seed": 1234,
        "steps": 6,
        "cases": [run(*case) for case in CASES],
    }
    (HERE / "pipeline_golden.json").write_text(json.dumps(golden).replace('{"class"', '\n{"class"') + "\n")


if __name__ == "__main__":
    main()

"""Writes schedulers_golden.json: timesteps and latents of diffusers' schedulers with a made-up model.

Run with diffusers 0.42.1 and torch 2.6.0, ATEN_CPU_CAPABILITY=avx2."""

import hashlib
import json
from pathlib import Path

import diffusers
import torch

SD = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear"}
LATENTS = [0.5, -1.25, 2.0, 0.0078125]
NOISE = [0.75, 0.25, -1.5, 1.0]
BIAS = [0.3, -0.7, 0.1, 0.9]

DPM, EULER, PNDM, DDIM = (
    "DPMSolverMultistepScheduler",
    "EulerDiscreteScheduler",
    "PNDMScheduler",
    "DDIMScheduler",
)

CASES = [
    *[(DPM, {**SD, "solver_order": order}, steps, 0) for order in (1, 2, 3) for steps in (1, 2, 10, 20)],
    *[(DPM, {**SD, "timestep_spacing": spacing, "steps_offset": 1}, 10, 0) for spacing in ("leading", "trailing")],
    (DPM, {**SD, "use_karras_sigmas": True}, 20, 0),
    (DPM, {**SD, "use_karras_sigmas": True, "solver_order": 3, "final_sigmas_type": "sigma_min"}, 10, 0),
    (DPM, {**SD, "solver_type": "heun"}, 10, 0),
    (DPM, {**SD, "lower_order_final": False}, 10, 0),
    (DPM, {**SD, "lower_order_final": False, "solver_order": 3, "final_sigmas_type": "sigma_min"}, 10, 0),
    (DPM, {**SD, "euler_at_final": True, "final_sigmas_type": "sigma_min"}, 16, 0),
    (DPM, {**SD, "prediction_type": "v_prediction"}, 10, 0),
    (DPM, {**SD, "prediction_type": "sample"}, 10, 0),
    (DPM, {"beta_schedule": "linear"}, 10, 0),
    (DPM, {"beta_schedule": "squaredcos_cap_v2", "lambda_min_clipped": -5.1}, 10, 0),
    (DPM, {"beta_schedule": "squaredcos_cap_v2", "use_karras_sigmas": True}, 10, 0),
    (DPM, {**SD, "prediction_type": "v_prediction", "rescale_betas_zero_snr": True, "timestep_spacing": "trailing"}, 10, 0),
    (DPM, {**SD, "solver_order": 3}, 20, 8),
    *[(EULER, {**SD, "timestep_spacing": spacing, "steps_offset": 1}, 10, 0) for spacing in ("leading", "linspace", "trailing")],
    (EULER, {**SD, "use_karras_sigmas": True}, 20, 0),
    (EULER, {**SD, "use_karras_sigmas": True, "sigma_min": 0.1, "sigma_max": 10.0}, 10, 0),
    (EULER, {**SD, "prediction_type": "v_prediction"}, 10, 0),
    (EULER, {**SD, "prediction_type": "sample"}, 10, 0),
    (EULER, {**SD, "interpolation_type": "log_linear"}, 10, 0),
    (EULER, {**SD, "final_sigmas_type": "sigma_min"}, 10, 0),
    (EULER, {**SD, "rescale_betas_zero_snr": True, "timestep_spacing": "trailing", "prediction_type": "v_prediction"}, 10, 0),
    (EULER, {**SD, "timestep_spacing": "leading", "steps_offset": 1}, 10, 4),
    (EULER, {"beta_schedule": "linear"}, 7, 0),
    *[(PNDM, {**SD, "skip_prk_steps": True, "steps_offset": 1}, steps, 0) for steps in (1, 2, 3, 20)],
    *[(PNDM, {**SD, "skip_prk_steps": True, "timestep_spacing": spacing}, 10, 0) for spacing in ("linspace", "trailing")],
    (PNDM, {**SD, "skip_prk_steps": True, "prediction_type": "v_prediction"}, 10, 0),
    (PNDM, {**SD, "skip_prk_steps": True, "set_alpha_to_one": True}, 10, 0),
    (PNDM, {**SD, "skip_prk_steps": False}, 8, 0),
    (PNDM, {**SD, "skip_prk_steps": True, "steps_offset": 1}, 10, 5),
    *[
        (DDIM, {**SD, "clip_sample": False, "timestep_spacing": spacing, "steps_offset": 1, "set_alpha_to_one": False}, 10, 0)
        for spacing in ("leading", "linspace", "trailing")
    ],
    (DDIM, {**SD, "clip_sample": True, "clip_sample_range": 1.5}, 10, 0),
    (DDIM, {**SD, "clip_sample": False, "prediction_type": "v_prediction"}, 10, 0),
    (DDIM, {**SD, "clip_sample": False, "prediction_type": "sample"}, 10, 0),
    (
        DDIM,
        {**SD, "clip_sample": False, "prediction_type": "v_prediction", "rescale_betas_zero_snr": True, "timestep_spacing": "trailing"},
        10,
        0,
    ),
    (DDIM, {"beta_schedule": "squaredcos_cap_v2", "clip_sample": False}, 10, 0),
    (DDIM, {**SD, "clip_sample": False, "steps_offset": 1}, 10, 3),
]


def model(scaled):
    return scaled * 0.5 + torch.tensor(BIAS)


def run(name, config, steps, first):
    scheduler = getattr(diffusers, name)(**config)
    scheduler.set_timesteps(steps)
    timesteps = scheduler.timesteps
    noise, clean = torch.tensor(NOISE), torch.tensor(LATENTS)
    if hasattr(scheduler, "set_begin_index"):
        scheduler.set_begin_index(first)
    if first > 0:
        latents = scheduler.add_noise(clean[None], noise[None], timesteps[first : first + 1])[0]
    else:
        latents = clean * scheduler.init_noise_sigma
    states = [latents.tolist()]
    for timestep in timesteps[first:]:
        prediction = model(scheduler.scale_model_input(latents, timestep))
        latents = scheduler.step(prediction, timestep, latents, return_dict=False)[0]
        states.append(latents.tolist())
    return {
        "class": name,
        "config": config,
        "steps": steps,
        "first": first,
        "alphas": hashlib.sha256(scheduler.alphas_cumprod.numpy().astype("<f4").tobytes()).hexdigest(),
        "timesteps": timesteps.tolist(),
        "states": states,
    }


def main():
    golden = {
        "diffusers": diffusers.__version__,
        "torch": torch.__version__,
        "clean": LATENTS,
        "noise": NOISE,
        "bias": BIAS,
        "cases": [run(*case) for case in CASES],
    }
    lines = json.dumps(golden).replace('{"class"', '\n{"class"')
    Path(__file__).with_name("schedulers_golden.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()

"""Perplexity of a model whose weights were compressed by coreai-opt, Apple's own library: what ours is compared with.

Run by hand with a CPython of 3.11 or newer:

    python -m venv v && v/bin/pip install coreai-opt==0.4.0 torch==2.8.0 torchao==0.15.0 transformers==5.24.0 gguf
    v/bin/python tools/quality_of_coreai_opt.py MODEL.gguf

The protocol is that of ``torch-ane quality``: the same text in the same segments; matrices inside decoder layers are
compressed, the embedding table and the head are int8 per channel where layers have fewer than eight bits.
"""

import argparse
import copy
import logging
import math
from pathlib import Path

import torch
from coreai_opt.palettization import KMeansPalettizer, KMeansPalettizerConfig
from coreai_opt.quantization import ExecutionMode, Quantizer, QuantizerConfig
from transformers import AutoModelForCausalLM, AutoTokenizer

TEXT = Path(__file__).parent.parent / "polyglot-host/src/main/resources/dev/torchane/cli/quality.txt"


def palettes(bits: int, group: int):
    presets = KMeansPalettizerConfig.presets
    config = (presets.w4 if bits == 4 else presets.w6)(axis=0, group_size=group)

    def compress(linear):
        module = torch.nn.Sequential(linear)
        return KMeansPalettizer(module, config).prepare((torch.zeros(1, linear.in_features),))

    return compress


def integers(preset: str, **options):
    config = getattr(QuantizerConfig.presets, preset)(execution_mode=ExecutionMode.EAGER, **options)

    def compress(linear):
        module = torch.nn.Sequential(linear)
        return Quantizer(module, config).prepare((torch.zeros(1, linear.in_features),))

    return compress


ENCODINGS = {
    "fp32": (None, None),
    "int8": (integers("w8"), integers("w8")),
    "int4": (integers("w4_per_block", block_size=32), integers("w8")),
    "lut4": (palettes(4, 8), integers("w8")),
    "lut4g32": (palettes(4, 32), integers("w8")),
    "lut6": (palettes(6, 8), integers("w8")),
}


@torch.no_grad()
def compressed(weight: torch.Tensor, compress) -> torch.Tensor:
    """The matrix as the compressed layer has it: what the layer answers to the rows of an identity."""
    linear = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    linear.weight = torch.nn.Parameter(weight.clone())
    layer = compress(linear.eval())
    layer(torch.eye(2, weight.shape[1]))  # observers see the weight
    return torch.cat([layer(rows) for rows in torch.eye(weight.shape[1]).split(64)]).T.contiguous()


@torch.no_grad()
def perplexity(model, segments) -> float:
    total, count = 0.0, 0
    for ids in segments:
        logits = model(input_ids=ids[None]).logits[0, :-1].double()
        total += torch.nn.functional.cross_entropy(logits, ids[1:], reduction="sum").item()
        count += len(ids) - 1
    return math.exp(total / count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--text", type=Path, default=TEXT)
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--context", type=int, default=1000)
    parser.add_argument("--weights", default=",".join(ENCODINGS))
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    source = {"gguf_file": given.model.name} if given.model.suffix == ".gguf" else {}
    folder = given.model.parent if source else given.model
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **source).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, **source)
    ids = torch.tensor(tokenizer(given.text.read_text())["input_ids"][: given.tokens])
    segments = [each for each in ids.split(given.context) if len(each) > 1]
    original = copy.deepcopy(model.state_dict())
    print(f"{given.model.name}, {len(ids)} tokens in {len(segments)} segments", flush=True)
    for name in given.weights.split(","):
        layers, tables = ENCODINGS[name]
        model.load_state_dict(original)
        for key, weight in model.named_parameters():
            table = "embed_tokens" in key or "lm_head" in key
            compress = tables if table else layers
            if compress is not None and weight.ndim == 2:
                weight.data.copy_(compressed(original[key], compress))
        print(f"{name:8} {perplexity(model, segments):10.4f}", flush=True)


if __name__ == "__main__":
    main()

"""Writes randn_golden.json: what torch.randn gives for a seed on a CPU with AVX2. Run with torch 2.6.0."""

import hashlib
import json
from pathlib import Path

import torch

CALLS = [
    (0, [("float32", 16384)]),
    (0, [("float32", 100_000)]),
    (1, [("float32", 16)]),
    (2, [("float32", 15)]),
    (3, [("float32", 1), ("float32", 1), ("float32", 3), ("float32", 16)]),
    (42, [("float32", 17), ("float32", 31), ("float32", 9), ("float32", 4096)]),
    (-1, [("float32", 64)]),
    (2**32, [("float32", 64)]),
    (2**32 + 5, [("float32", 64)]),
    (2**63 - 1, [("float32", 64)]),
    (7, [("float16", 16384)]),
    (8, [("float16", 7), ("float16", 20), ("float32", 32)]),
]


def digest(tensor):
    return hashlib.sha256(tensor.float().numpy().astype("<f4").tobytes()).hexdigest()


def main():
    cases = []
    for seed, calls in CALLS:
        generator = torch.Generator().manual_seed(seed)
        results = []
        for dtype, count in calls:
            values = torch.randn(count, generator=generator, dtype=getattr(torch, dtype))
            first = [float(v) for v in values[:4]]
            results.append({"dtype": dtype, "count": count, "first": first, "sha256": digest(values)})
        cases.append({"seed": seed, "calls": results})
    golden = {"torch": torch.__version__, "capability": torch.backends.cpu.get_cpu_capability(), "cases": cases}
    Path(__file__).with_name("randn_golden.json").write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Writes dequantize_golden.txt: what the `gguf` package (its numpy code) makes of blocks of fixed pseudo-random bytes.

Usage: pip install gguf==0.19.0 && python dequantize_golden.py > dequantize_golden.txt
The same bytes are made by DequantizationTest. One line per type: name, blocks, SHA-256 of the fp32 bytes, first values.
"""

import hashlib

import numpy
from gguf import GGMLQuantizationType, GGML_QUANT_SIZES
from gguf.quants import dequantize

BLOCKS = 64
HALVES = {
    "F16": [0],
    "BF16": [0],
    "Q4_0": [0],
    "Q4_1": [0, 2],
    "Q5_0": [0],
    "Q5_1": [0, 2],
    "Q8_0": [0],
    "Q2_K": [80, 82],
    "Q3_K": [108],
    "Q4_K": [0, 2],
    "Q5_K": [0, 2],
    "Q6_K": [208],
}


def block_bytes(count: int, size: int, halves: list[int]) -> numpy.ndarray:
    """Bytes of a linear congruential generator; fp16 fields are kept below 2 so that they are finite."""
    state = 1
    data = numpy.zeros((count, size), numpy.uint8)
    for block in range(count):
        for position in range(size):
            state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            data[block, position] = state >> 16 & 0xFF
        for half in halves:
            data[block, half + 1] &= 0xBF
    return data


for name, halves in HALVES.items():
    kind = GGMLQuantizationType[name]
    values = dequantize(block_bytes(BLOCKS, GGML_QUANT_SIZES[kind][1], halves), kind).astype("<f4").reshape(-1)
    first = " ".join(value.hex() for value in values[:4].astype(float).tolist())
    print(name, BLOCKS, hashlib.sha256(values.tobytes()).hexdigest(), first)

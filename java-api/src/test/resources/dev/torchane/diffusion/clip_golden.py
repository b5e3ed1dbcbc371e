"""Writes clip_golden.json: a small CLIP vocabulary as Stable Diffusion 1 and 2 ship theirs, and the ids of prompts.

Run with transformers 5.24.0."""

import json
import sys
import tempfile
from pathlib import Path

from transformers import CLIPTokenizer

START, END = "<|startoftext|>", "<|endoftext|>"
TEXTS = [
    "",
    " ",
    "a photo of a cat",
    "A Photo of an ASTRONAUT riding a horse, highly detailed!",
    "it's the cat's 42nd  photo\n\tof\u00a0cats",
    "caf\u00e9 cafe\u0301 \u0130stanbul na\u00efve",
    "\u732b\u306e\u5199\u771f \U0001f408\u200d\u2b1b \u0e01\u0e33\u0e25\u0e31\u0e07",
    "hello!! wow! !",
    "a <|endoftext|> b <|startoftext|>cat",
    "</w> </ w>",
    "cat " * 74,
    "cat " * 75,
    "cat " * 76,
    "a photo of a cat, " * 40,
]
MERGES = "c a|ca t</w>|p h|o t|ph ot|phot o</w>|o f</w>|t h|th e</w>|h o|r s|s e</w>|rs e</w>|ho rse</w>|a n</w>|d e|de t"


def bytes_to_characters():
    """GPT-2's printable stand-ins for bytes."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in kept]
    return [chr(b) for b in kept] + [chr(256 + i) for i in range(len(rest))]


def files(pad):
    characters = bytes_to_characters()
    merges = [tuple(pair.split(" ")) for pair in MERGES.split("|")]
    tokens = [*characters, *[c + "</w>" for c in characters], *["".join(pair) for pair in merges], START, END]
    added = {"content": "", "lstrip": False, "normalized": True, "rstrip": False, "single_word": False}
    names = {"bos_token": {**added, "content": START}, "eos_token": {**added, "content": END}, "unk_token": {**added, "content": END}}
    return {
        "vocab.json": json.dumps({token: index for index, token in enumerate(tokens)}, ensure_ascii=False),
        "merges.txt": "#version: 0.2\n" + "\n".join(" ".join(pair) for pair in merges) + "\n",
        "special_tokens_map.json": json.dumps({**names, "pad_token": pad}),
        "tokenizer_config.json": json.dumps(
            {
                "add_prefix_space": False,
                **{name: {"__type": "AddedToken", **token} for name, token in names.items()},
                "do_lower_case": True,
                "errors": "replace",
                "model_max_length": 77,
                "pad_token": pad,
                "tokenizer_class": "CLIPTokenizer",
            }
        ),
    }


def main():
    golden = []
    for name, pad in (("sd1", END), ("sd2", "!")):
        with tempfile.TemporaryDirectory() as folder:
            written = files(pad)
            for file, text in written.items():
                Path(folder, file).write_text(text)
            tokenizer = CLIPTokenizer.from_pretrained(folder)
            cases = []
            for text in TEXTS:
                ids = tokenizer(text, padding="max_length", max_length=77, truncation=True).input_ids
                whole = tokenizer(text, padding="longest").input_ids
                cut = tokenizer.decode(whole[76:-1]) if len(whole) > 77 else ""
                cases.append({"text": text, "ids": ids, "whole": len(whole), "cut": cut})
            golden.append({"name": name, "files": written, "cases": cases})
            if "--show" in sys.argv:
                tokenizer.save_pretrained(folder + "/saved")
                shown = json.loads(Path(folder, "saved", "tokenizer.json").read_text())
                shown["model"]["vocab"], shown["model"]["merges"] = {}, []
                print(json.dumps(shown, indent=1))
    Path(__file__).with_name("clip_golden.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()

"""Writes tokenizers_golden.json: two small tokenizers of the kinds that models have, and what the Hugging Face library makes of texts.

Usage: pip install tokenizers==0.23.3 && python golden.py, in this directory.
"""

import json
import pathlib

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEXTS = [
    "Why is the sky blue?",
    "สวัสดีครับ ก็ ที่นี่ น้ำ กำ",
    "👨‍👩‍👧‍👦 family, 👩🏽‍🚀, 🇨🇭",
    "a\u0085b\u00a0c\u2028d\u3000e\u200b",
    "\u00e9 e\u0301 \uac00 \u1100\u1161 \u212b \ufb01",
    "\u09cd\u09af ক্ষ \u0915\u094d\u0937",
    "\u0000 nul \u0001\u007f",
    "\ufffd\ufffe\uffff\U0010ffff",
    "  leading\n\n\ttabs \r\n  ",
    "don't I'LL 123456 1,000.5",
    "𝕳𝖊𝖑𝖑𝖔 𠀀",
    "<s>in</s> <|end|>x<|end|>",
    " ",
    "",
]


def byte_level() -> Tokenizer:
    """As Qwen2's: NFC, a regex, bytes."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<|end|>"]
    tokenizer.train_from_iterator(
        TEXTS,
        trainers.BpeTrainer(vocab_size=330, initial_alphabet=alphabet, special_tokens=special, show_progress=False),
    )
    return tokenizer


def sentence_piece() -> Tokenizer:
    """As Llama 2's: a mark for spaces, bytes for what has no token, BOS in front."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=special, limit_alphabet=40, show_progress=False)
    tokenizer.train_from_iterator([text.replace(" ", "▁") for text in TEXTS[:1] * 3 + TEXTS[8:10]], trainer)
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A <s> $B", [("<s>", 1)])
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = state["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(state))


golden = []
for name, tokenizer in {"byte level": byte_level(), "sentence piece": sentence_piece()}.items():
    cases = [
        {"text": text, "ids": (ids := tokenizer.encode(text).ids), "decoded": tokenizer.decode(ids)} for text in TEXTS
    ]
    golden.append({"name": name, "tokenizer": json.loads(tokenizer.to_str()), "cases": cases})
(HERE / "tokenizers_golden.json").write_text(json.dumps(golden, ensure_ascii=True, separators=(",", ":")) + "\n")

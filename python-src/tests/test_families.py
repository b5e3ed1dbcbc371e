"""A model of each family, exported and run by the interpreter, gives transformers' own logits; and the page of them."""

import re
from pathlib import Path

import pytest
import torch

from conftest import export
from generation import Session
from models import FAMILIES, GGUF, TITLES, tiny

PAGE = Path(__file__).parents[2] / "docs" / "models.md"
DIFFERENCES: dict[str, float] = {}

IDS = [(31 * n + 5) % 97 for n in range(27)]


@torch.no_grad()
def logits_of(model) -> torch.Tensor:
    return model(input_ids=torch.tensor([IDS])).logits[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_prefill_and_decode_over_states_give_transformers_logits(family):
    model = tiny(family)
    program, manifest = export(model)
    expected = logits_of(model)
    assert expected.std() > 1e-2, "the test model is not trivial"
    scale = expected.abs().max().clamp(min=1)
    for rung in (32, 24):
        session = Session(program, manifest, model, rung=rung)
        for start, stop in ((0, 16), (16, 21), (16, 24), (24, 27)):  # the second decode window rewrites its tail
            if stop <= rung:
                logits = session.feed(IDS[start:stop], start)
                difference = float((logits - expected[stop - 1]).abs().max() / scale)
                DIFFERENCES[family] = max(difference, DIFFERENCES.get(family, 0.0))
                assert difference <= 1e-5, (rung, start, stop)


@pytest.mark.parametrize(
    "family", ["llama", "llama-rope-llama3", "llama-rope-linear", "llama-rope-yarn", "mistral-small"]
)
def test_frequencies_are_transformers_own_to_the_bit(family):
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    model = tiny(family)
    _, manifest = export(model)
    rope = manifest["rope"]["global"]
    kind = model.config.rope_parameters["rope_type"]
    if kind == "default":
        expected, scaling = model.model.rotary_emb.compute_default_rope_parameters(model.config)
    else:
        expected, scaling = ROPE_INIT_FUNCTIONS[kind](model.config, "cpu")
    assert torch.equal(torch.tensor(rope["inverseFrequencies"], dtype=torch.float32), expected)
    assert rope["attentionScaling"] == scaling


@pytest.mark.parametrize("target", ["gpu", "ane"])
def test_every_target_computes_the_same(target):
    model = tiny("gemma3")
    program, manifest = export(model, target=target)
    expected = logits_of(model)
    logits = Session(program, manifest, model).feed(IDS[:16], 0)
    assert (logits - expected[15]).abs().max() <= 1e-5 * expected.abs().max()
    kinds = program.functions["decode_24"].kinds()
    assert kinds.count("conv") == (3 * 7 if target == "ane" else 0)


def test_an_fp16_program_is_close(llama_fp16):
    model, program, manifest = llama_fp16
    expected = logits_of(model)
    logits = Session(program, manifest, model, precision="fp16").feed(IDS[:16], 0)
    assert logits.dtype == torch.float16
    assert (logits - expected[15]).abs().max() <= 2e-2 * expected.abs().max()


def test_rows_of_a_batch_function_belong_to_streams_of_their_own():
    model = tiny("llama-tied-biased")
    program, manifest = export(model, batch=True)
    assert list(program.functions) == [f"{kind}_{rung}" for rung in (24, 32) for kind in ("prefill", "decode", "batch")]
    assert "pick" not in program.functions["batch_24"].inputs
    streams = [IDS[:3], IDS[7:9], IDS[11:14]]
    logits = Session(program, manifest, model).step(streams)
    with torch.no_grad():
        expected = torch.cat([model(input_ids=torch.tensor([ids])).logits[0] for ids in streams])
    assert logits.shape == expected.shape == (8, 97)
    assert (logits - expected).abs().max() <= 1e-5 * expected.abs().max()


HEAD = """# Language models

What `CausalLM` builds, made by `python-src/tests/test_families.py` (`python tests/test_families.py` writes it anew).
Each family is compared with transformers on random models of three layers, prefill and decode over the states of two
rungs; the figure is the largest difference of a logit, relative to the largest logit, in fp32. Nothing here is code for
one family: a model is traced in its own code, so one that is not listed is built too, or refused by the name of what
cannot be.

A mixture's experts are all part of the program, each for the rows that chose it and as zeros for the others: right on
every engine. The engine `jvm` leaves out those that no row has chosen; elsewhere such a model is as slow as a dense one
of all its weights.

| models | class in transformers | from | tested with | largest difference |
|---|---|---|---|---|
"""

TAIL = """
Refused, with the reason: models with learned or other absolute positions (GPT-2, OPT, ALiBi), whose rotary embedding
pairs neighbours in another way than `cos(position · frequency)` of both halves alike (Cohere), whose layers keep
something else than keys and values of one shape (the gated delta net of Qwen3-Next and Qwen3.5, Mamba, DeepSeek's
latent attention). GGUF files of other architectures are refused by their name: use the Hugging Face directory.
"""


def page() -> str:
    """The page; needs :data:`DIFFERENCES` of every family."""
    lines = []
    for name, title in sorted(TITLES.items(), key=lambda item: item[1].lower()):
        families = [family for family, (own, _) in FAMILIES.items() if own == name]
        worst = max(DIFFERENCES[family] for family in families)
        forms = "directory, GGUF" if name in GGUF else "directory"
        lines.append(f"| {title} | `{name}ForCausalLM` | {forms} | {', '.join(families)} | {worst:.0e} |")
    return HEAD + "\n".join(lines) + "\n" + TAIL


def test_the_page_of_models_is_what_the_tests_say():
    if set(DIFFERENCES) != set(FAMILIES):
        pytest.skip("only when every family ran")
    figures = re.compile(r"\| \d+e-\d+ \|")
    listed, found = PAGE.read_text(), page()
    message = "docs/models.md is stale: run python tests/test_families.py"
    assert figures.sub("", listed) == figures.sub("", found), message


if __name__ == "__main__":
    for name in FAMILIES:
        test_prefill_and_decode_over_states_give_transformers_logits(name)
    PAGE.write_text(page())

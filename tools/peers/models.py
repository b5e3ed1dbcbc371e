"""Makes the models of the peers of ./torch-ane bench out of one GGUF file: models.py GGUF DIRECTORY

Q4_0.gguf and Q8_0.gguf by llama.cpp, hf/ by transformers, ort/ by onnxruntime-genai's builder, each if its package is there.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

os.environ["HF_HUB_OFFLINE"] = "1"


def quantize(source, target, kind):
    import llama_cpp

    params = llama_cpp.llama_model_quantize_default_params()
    params.ftype = getattr(llama_cpp, f"LLAMA_FTYPE_MOSTLY_{kind}")
    params.allow_requantize = True
    params.nthread = 2
    if llama_cpp.llama_model_quantize(str(source).encode(), str(target).encode(), params) != 0:
        raise RuntimeError(f"llama.cpp did not quantize {source}")


def checkpoint(source, target):
    import transformers

    arguments = {"gguf_file": source.name}
    transformers.AutoTokenizer.from_pretrained(source.parent, **arguments).save_pretrained(target)
    read = transformers.AutoModelForCausalLM.from_pretrained(source.parent, **arguments)
    if hasattr(read.config, "quantization_config"):
        del read.config.quantization_config
    plain = transformers.AutoModelForCausalLM.from_config(read.config)  # what was read from a GGUF refuses to be saved
    plain.load_state_dict(read.state_dict())
    plain.save_pretrained(target)


def onnx(source, target):
    command = [sys.executable, "-m", "onnxruntime_genai.models.builder", "-i", source, "-o", target]
    subprocess.run(
        [*map(str, command), "-p", "int4", "-e", "cpu", "-c", f"{target}.cache", "--extra_options", "hf_token=false"],
        check=True,
    )
    shutil.rmtree(str(target) + ".cache", ignore_errors=True)


def make(target, how):
    """Whole or absent: made under another name first."""
    if target.exists():
        return
    fresh = target.with_name("." + target.name)
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        how(fresh)
        fresh.rename(target)
        print(f"made {target}")
    except Exception as failure:  # noqa: BLE001
        print(f"NOT made {target}: {type(failure).__name__}: {failure}")


def main():
    source, directory = Path(sys.argv[1]), Path(sys.argv[2])
    directory.mkdir(parents=True, exist_ok=True)
    make(directory / "Q4_0.gguf", lambda to: quantize(source, to, "Q4_0"))
    make(directory / "Q8_0.gguf", lambda to: quantize(source, to, "Q8_0"))
    make(directory / "hf", lambda to: checkpoint(source, to))
    make(directory / "ort", lambda to: onnx(directory / "hf", to))


if __name__ == "__main__":
    main()

"""A peer of ./torch-ane bench: loads a model, then does what it is told, a line of JSON in, a line of JSON out.

    peer.py KIND MODEL --threads N        KIND: llama, torch-fp32, torch-bf16, ort

A request names the work and gives token ids, the same for every peer:

    {"work": "decode", "prompt": [ids], "steps": 64}     seconds of the steps behind the prompt, greedy
    {"work": "batch", "prompts": [[ids]], "steps": 32}   the same for several streams, a step of all of them at a time
    {"work": "prefill", "prompt": [ids]}                 seconds from the prompt to its logits
    {"work": "context", "prompt": [ids], "steps": 16}    as decode; the prompt is fed once and kept between requests
    {"work": "start", "prompt": [ids]}                   seconds to load the model anew and give the first token

and is answered {"tokens": n, "seconds": s} or {"error": "..."}. The first line is {"ready": "name and version"}.
"""

import argparse
import json
import os
import sys
import time


class Llama:
    """llama.cpp through llama-cpp-python's C functions, without its Python loop."""

    def __init__(self, path, threads):
        import llama_cpp
        import numpy

        self.api, self.numpy = llama_cpp, numpy
        self.path, self.threads = path, threads
        self.silent = llama_cpp.llama_log_callback(lambda level, text, data: None)
        llama_cpp.llama_log_set(self.silent, None)
        llama_cpp.llama_backend_init()
        self.model = self.load()
        self.vocab = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))
        self.one = self.context(self.model, 1024, 1)
        self.many = None
        self.long = None

    def name(self):
        return f"llama-cpp-python {self.api.__version__}"

    def load(self):
        return self.api.llama_model_load_from_file(self.path.encode(), self.api.llama_model_default_params())

    def context(self, model, length, streams):
        params = self.api.llama_context_default_params()
        params.n_ctx = length
        params.n_batch = params.n_ubatch = 512
        params.n_seq_max = streams
        params.n_threads = params.n_threads_batch = self.threads
        context = self.api.llama_init_from_model(model, params)
        if not context:
            raise RuntimeError("llama_init_from_model failed")
        return context

    def clear(self, context):
        self.api.llama_memory_clear(self.api.llama_get_memory(context), True)

    def feed(self, context, columns):
        """Decodes (token, position, stream, wanted) tuples in one call; the greedy next tokens of the wanted ones."""
        batch = self.api.llama_batch_init(len(columns), 0, 1)
        batch.n_tokens = len(columns)
        for i, (token, position, stream, wanted) in enumerate(columns):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, position, 1
            batch.seq_id[i][0], batch.logits[i] = stream, wanted
        status = self.api.llama_decode(context, batch)
        found = []
        for i, column in enumerate(columns):
            if status == 0 and column[3]:
                row = self.numpy.ctypeslib.as_array(self.api.llama_get_logits_ith(context, i), (self.vocab,))
                found.append(int(row.argmax()))
        self.api.llama_batch_free(batch)
        if status != 0:
            raise RuntimeError(f"llama_decode gave {status}")
        return found

    def prompt(self, context, ids, stream=0):
        for begin in range(0, len(ids), 512):
            part = ids[begin : begin + 512]
            last = begin + len(part) == len(ids)
            columns = [(t, begin + i, stream, last and i == len(part) - 1) for i, t in enumerate(part)]
            found = self.feed(context, columns)
        return found[0]

    def steps(self, context, token, position, count):
        began = time.perf_counter()
        for i in range(count):
            token = self.feed(context, [(token, position + i, 0, True)])[0]
        return token, time.perf_counter() - began

    def decode(self, prompt, steps):
        self.clear(self.one)
        token = self.prompt(self.one, prompt)
        return steps, self.steps(self.one, token, len(prompt), steps)[1]

    def batch(self, prompts, steps):
        if self.many is None:
            self.many = self.context(self.model, 256 * len(prompts), len(prompts))
        self.clear(self.many)
        tokens = [self.prompt(self.many, ids, stream) for stream, ids in enumerate(prompts)]
        began = time.perf_counter()
        for i in range(steps):
            tokens = self.feed(self.many, [(t, len(prompts[s]) + i, s, True) for s, t in enumerate(tokens)])
        return steps * len(prompts), time.perf_counter() - began

    def prefill(self, prompt):
        self.clear(self.one)
        began = time.perf_counter()
        self.prompt(self.one, prompt)
        return len(prompt), time.perf_counter() - began

    def context_steps(self, prompt, steps):
        if self.long is None:
            self.long = self.context(self.model, 8192, 1)
            self.at = len(prompt), self.prompt(self.long, prompt)
        position, token = self.at
        token, seconds = self.steps(self.long, token, position, steps)
        self.at = position + steps, token
        return steps, seconds

    def start(self, prompt):
        began = time.perf_counter()
        model = self.load()
        context = self.context(model, 1024, 1)
        self.prompt(context, prompt)
        seconds = time.perf_counter() - began
        self.api.llama_free(context)
        self.api.llama_model_free(model)
        return 1, seconds


class Torch:
    """transformers on torch, eager."""

    def __init__(self, path, threads, dtype):
        os.environ["HF_HUB_OFFLINE"] = "1"
        import torch
        import transformers

        self.torch, self.transformers, self.path = torch, transformers, path
        self.dtype = getattr(torch, dtype)
        torch.set_num_threads(threads)
        torch.set_grad_enabled(False)
        self.model = self.load()
        self.at = None

    def name(self):
        return f"torch {self.torch.__version__}, transformers {self.transformers.__version__}"

    def load(self):
        return self.transformers.AutoModelForCausalLM.from_pretrained(self.path, dtype=self.dtype).eval()

    def feed(self, ids, cache=None, model=None):
        out = (model or self.model)(self.torch.tensor(ids), past_key_values=cache, use_cache=True, logits_to_keep=1)
        return out.logits[:, -1].argmax(-1, keepdim=True).tolist(), out.past_key_values

    def steps(self, tokens, cache, count):
        began = time.perf_counter()
        for _ in range(count):
            tokens, cache = self.feed(tokens, cache)
        return tokens, cache, time.perf_counter() - began

    def batch(self, prompts, steps):
        return steps * len(prompts), self.steps(*self.feed(prompts), steps)[2]

    def decode(self, prompt, steps):
        return self.batch([prompt], steps)

    def prefill(self, prompt):
        began = time.perf_counter()
        self.feed([prompt])
        return len(prompt), time.perf_counter() - began

    def context_steps(self, prompt, steps):
        if self.at is None:
            self.at = self.feed([prompt])
        tokens, cache, seconds = self.steps(*self.at, steps)
        self.at = tokens, cache
        return steps, seconds

    def start(self, prompt):
        began = time.perf_counter()
        self.feed([prompt], model=self.load())
        return 1, time.perf_counter() - began


class OnnxRuntime:
    """onnxruntime-genai on a directory that its model builder wrote."""

    def __init__(self, path, threads):
        import onnxruntime_genai

        self.api, self.path, self.threads = onnxruntime_genai, path, threads
        self.model = self.load()
        self.kept = None

    def name(self):
        return f"onnxruntime-genai {self.api.__version__}"

    def load(self):
        settings = self.api.Config(self.path)
        options = {"session_options": {"intra_op_num_threads": self.threads}}
        settings.overlay(json.dumps({"model": {"decoder": options}}))
        return self.api.Model(settings)

    def generator(self, prompts, room, model=None):
        params = self.api.GeneratorParams(model or self.model)
        length = len(prompts[0]) + room
        params.set_search_options(max_length=length, min_length=length, batch_size=len(prompts), do_sample=False)
        generator = self.api.Generator(model or self.model, params)
        import numpy

        generator.append_tokens(numpy.array(prompts, dtype=numpy.int32))
        generator.generate_next_token()
        return generator

    def batch(self, prompts, steps):
        generator = self.generator(prompts, steps + 2)
        began = time.perf_counter()
        for _ in range(steps):
            generator.generate_next_token()
        return steps * len(prompts), time.perf_counter() - began

    def decode(self, prompt, steps):
        return self.batch([prompt], steps)

    def prefill(self, prompt):
        began = time.perf_counter()
        self.generator([prompt], 2)
        return len(prompt), time.perf_counter() - began

    def context_steps(self, prompt, steps):
        if self.kept is None:
            self.kept = self.generator([prompt], 1024)
        began = time.perf_counter()
        for _ in range(steps):
            self.kept.generate_next_token()
        return steps, time.perf_counter() - began

    def start(self, prompt):
        began = time.perf_counter()
        self.generator([prompt], 2, self.load())
        return 1, time.perf_counter() - began


def peer(kind, model, threads):
    if kind == "llama":
        return Llama(model, threads)
    if kind.startswith("torch-"):
        return Torch(model, threads, {"fp32": "float32", "bf16": "bfloat16"}[kind[6:]])
    return OnnxRuntime(model, threads)


def answer(found, request):
    work = request.pop("work")
    try:
        tokens, seconds = getattr(found, "context_steps" if work == "context" else work)(**request)
        return {"tokens": tokens, "seconds": seconds}
    except Exception as failure:  # noqa: BLE001
        return {"error": f"{type(failure).__name__}: {failure}"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["llama", "torch-fp32", "torch-bf16", "ort"])
    parser.add_argument("model")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is not an answer
    found = peer(arguments.kind, arguments.model, arguments.threads)
    print(json.dumps({"ready": found.name()}), file=lines)
    for line in sys.stdin:
        print(json.dumps(answer(found, json.loads(line))), file=lines)


if __name__ == "__main__":
    main()

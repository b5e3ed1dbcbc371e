"""The smallest loop over a recorded program: what Java does with it, for comparison with transformers."""

import torch

from recorder import Interpreter, Recorder
from torch_ane.llm._samples import mask, one_hot


class Session:
    """Feeds tokens in windows over the states of one rung."""

    def __init__(self, program: Recorder, manifest: dict, model, precision: str = "fp32", rung: int | None = None):
        self.interpreter, self.manifest = Interpreter(program, precision), manifest
        self.rung = rung or manifest["model"]["ladder"][0]
        self.program = program
        self.embedding = model.get_input_embeddings()
        function = program.functions[f"decode_{self.rung}"]
        dtype = self.interpreter.precision
        self.states = {name: torch.zeros(h.shape, dtype=dtype) for name, h in function.states.items()}

    def feed(self, ids: list[int], start: int) -> torch.Tensor:
        """Runs one window whose row 0 is position ``start``; answers the logits after the last id."""
        kind = "prefill" if len(ids) > 8 else "decode"
        name = f"{kind}_{self.rung}"
        function = self.program.functions[name]
        rows = function.inputs["emb"].shape[1]
        padded = torch.tensor([ids + [0] * (rows - len(ids))])
        positions = torch.arange(start, start + rows)
        window = self.manifest["model"]["slidingWindow"]
        table = self.embedding.weight[padded] * self.manifest["embedding"]["multiplier"]
        given = {"emb": table, "step": torch.tensor([start], dtype=torch.int32)}
        given |= dict(zip(("cos", "sin"), _rows(self.manifest["rope"]["global"], positions), strict=True))
        if self.manifest["rope"]["local"]:
            given |= dict(
                zip(("cos_local", "sin_local"), _rows(self.manifest["rope"]["local"], positions), strict=True)
            )
        given["mask"] = mask(rows, self.rung, start)
        if window:
            given["mask_local"] = mask(rows, self.rung, start, window)
        given["pick"] = one_hot(len(ids) - 1, rows)
        return self.interpreter.run(name, given, self.states)["logits"][0]

    def step(self, streams: list[list[int]]) -> torch.Tensor:
        """Runs one batch window over empty states: row after row each stream's tokens; answers all rows' logits."""
        name = f"batch_{self.rung}"
        rows = self.program.functions[name].inputs["emb"].shape[1]
        stream_of = [index for index, ids in enumerate(streams) for _ in ids]
        assert len(stream_of) == rows
        positions = torch.tensor([place for ids in streams for place in range(len(ids))])
        table = self.embedding.weight[torch.tensor([[token for ids in streams for token in ids]])]
        given = {"emb": table * self.manifest["embedding"]["multiplier"], "step": torch.zeros(1, dtype=torch.int32)}
        given |= dict(zip(("cos", "sin"), _rows(self.manifest["rope"]["global"], positions), strict=True))
        given["mask"] = torch.full((1, 1, rows, self.rung), -40000.0)
        for row, stream in enumerate(stream_of):
            for column in range(row + 1):
                if stream_of[column] == stream:
                    given["mask"][0, 0, row, column] = 0
        return self.interpreter.run(name, given, self.states)["logits"]


def _rows(rope: dict, positions: torch.Tensor):
    frequencies = torch.tensor(rope["inverseFrequencies"], dtype=torch.float32)
    angles = positions[None, :, None].float() * frequencies
    both = torch.cat((angles, angles), -1)
    return both.cos() * rope["attentionScaling"], both.sin() * rope["attentionScaling"]

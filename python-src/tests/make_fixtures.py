"""Writes the files that acceptance tests read: ``python tests/make_fixtures.py FOLDER``, with torch 2.6 on CPython."""

import sys
from pathlib import Path

import torch
from torch import nn


class Classifier(nn.Module):
    """A few convolutions, a norm that works in place, and two results."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.head = nn.Linear(8, 5)

    def forward(self, image):
        features = self.stem(image)
        return {"logits": self.head(features.mean((2, 3))), "features": features}


def main(folder: Path) -> None:
    """``classifier.pt2``, and its weights as ``classifier.bin``."""
    torch.manual_seed(11)
    module = Classifier().eval()
    torch.save(module.state_dict(), folder / "classifier.bin")
    program = torch.export.export(module, (torch.randn(1, 3, 12, 10),))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # it has the paths of this machine
    torch.export.save(program, folder / "classifier.pt2")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Checkpoints whose tensors have other names than a model's weights, or are parts of them."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import torch


@dataclass
class Source:
    """Where a weight comes from: one tensor of the checkpoint, or some for each expert, in their order."""

    whole: str | None = None
    parts: dict[tuple[int, int], str] = field(default_factory=dict)

    def experts(self, count: int, width: int) -> list[list[str]]:
        """Names by expert and part. Raises KeyError with the place of one that is not there."""
        return [[self.parts[expert, part] for part in range(width)] for expert in range(count)]

    @property
    def width(self) -> int:
        """Parts of an expert's weight."""
        return 1 + max(part for _, part in self.parts)


@dataclass(frozen=True)
class _Merge:
    """Tensors of one expert each that become one weight."""

    pattern: re.Pattern
    target: str
    part: int


def sources_of(model: torch.nn.Module, wanted: Collection[str], given: Sequence[str]) -> dict[str, Source]:
    """By the ``wanted`` names of a model, where each weight is in a checkpoint with the ``given`` ones."""
    renamings, merges = _mapping(model)
    sources: dict[str, Source] = {}
    for name in given:
        own = name
        for pattern, target in renamings if name not in wanted else ():
            own = re.sub(pattern, target, own)
        found = next(((merge, match) for merge in merges if (match := merge.pattern.search(own))), None)
        if found is None:
            sources[own] = Source(name)
        else:
            merge, match = found
            whole = own[: match.start()] + merge.target + own[match.end() :]
            sources.setdefault(whole, Source()).parts[int(match[1]), merge.part] = name
    return sources


def _mapping(model: torch.nn.Module) -> tuple[list[tuple[str, str]], list[_Merge]]:
    from transformers.conversion_mapping import get_model_conversion_mapping

    renamings, merges = [], []
    for entry in get_model_conversion_mapping(model, add_legacy=False):
        steps = [type(step).__name__ for step in getattr(entry, "operations", [])]
        if not steps and len(entry.source_patterns) == len(entry.target_patterns) == 1:
            renamings.append((entry.source_patterns[0], entry.target_patterns[0]))
        elif steps in (["MergeModulelist"], ["MergeModulelist", "Concatenate"]):
            for part, pattern in enumerate(entry.source_patterns):
                expression = re.compile(re.escape(pattern).replace(r"\*", r"(\d+)"))
                merges.append(_Merge(expression, entry.target_patterns[0], part))
    return renamings, merges

"""RoPE frequencies as the configuration says, in fp32."""

import torch


def fresh_rope(model: torch.nn.Module) -> int:
    """Makes rotary embeddings anew.

    Given:  ``rotary_emb`` of a model that was loaded in, or once moved to, bf16: its ``inv_freq`` is rounded.
    Result: the same class built from its configuration: ``inv_freq`` exact to fp32.
    """
    count = 0
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if name == "rotary_emb" and getattr(child, "config", None) is not None:
                setattr(module, name, type(child)(config=child.config))
                count += 1
    return count

"""Takes from a patch the parts for the files we name, under the paths we name.

    select_patch.py PATCH PREFIX[=NEW_PREFIX] ... > SELECTED

GraalPy carries a patch for torch 2.7.0. On 2.6.0 the parts that torch.sh selects apply as they are; what the others do
is in adapt_sources.py.
"""

import re
import sys
from pathlib import Path


def main() -> None:
    parts = re.split(r"^(?=diff --git )", Path(sys.argv[1]).read_text(), flags=re.MULTILINE)
    for rule in sys.argv[2:]:
        prefix, _, renamed = rule.partition("=")
        chosen = [part for part in parts if part.startswith(f"diff --git a/{prefix}")]
        if not chosen:
            raise SystemExit(f"{sys.argv[1]} has no part for {prefix}")
        for part in chosen:
            for side in ("a", "b"):
                part = part.replace(f" {side}/{prefix}", f" {side}/{renamed or prefix}")
            sys.stdout.write(part)


if __name__ == "__main__":
    main()

"""Each operation of the table against torch; and the page that lists them, made from the table and these tests."""

from pathlib import Path

import pytest

from modules import compiled, difference, traced_forms
from operations import CASES, CORE
from torch_ane.lowering import TABLE

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
FORMS: dict[str, dict] = {}


def named(inputs) -> dict:
    return {f"x{index}": tensor for index, tensor in enumerate(inputs)}


@pytest.mark.parametrize("case", CASES)
def test_operation(case):
    module, inputs = CASES[case]
    with traced_forms(FORMS, case):
        assert difference(compiled(module, **named(inputs))) < 2e-6


@pytest.mark.parametrize("case", CORE)
def test_core_operation(case):
    module, inputs = CORE[case]
    with traced_forms(FORMS, case):
        assert difference(compiled(module, decomposed=True, **named(inputs))) < 2e-6


HEAD = """# Operations

What `TorchAne.compile` lowers, made by `python-src/tests/test_operations.py` from the table and its tests
(`python tests/test_operations.py` writes it anew). Every MIL operation below is standard and runs on the engine
`jvm`. Operations that share a line are lowered by one function; its tests use those in bold. What does not depend on
inputs (masks, positions, `arange`, `full`) is computed while the graph is made and needs no lowering. Everything else
is refused by the operation's name and its module's.

- **Control flow** (`cond`, `while_loop`) is refused: a program has none.
- **Sizes** are fixed. A module is compiled for several shapes by several sets of inputs; they share their weights.
- **Complex numbers**, results whose shape depends on values (`nonzero`, picking by truth values) and bits of integers
  are refused.

| operation | MIL | tests |
|---|---|---|
"""


def page() -> str:
    """The page; needs :data:`FORMS` of every case."""
    functions: dict = {}
    for op, function in TABLE.items():
        functions.setdefault(function, []).append(op)
    lines = []
    for ops in functions.values():
        used = [op for op in ops if op in FORMS]
        kinds = list(dict.fromkeys(kind for op in used for form in FORMS[op].values() for kind in form))
        cases = list(dict.fromkeys(case for op in used for case in FORMS[op]))
        names = ", ".join(f"**`{op}`**" if op in FORMS else f"`{op}`" for op in sorted(ops))
        where = ", ".join(cases[:3]) if cases else "language models" if ops[0].startswith("torch_ane") else "-"
        form = ", ".join(f"`{kind}`" for kind in kinds) or ("a view" if cases else "-")
        lines.append(f"| {names} | {form} | {where} |")
    return HEAD + "\n".join(sorted(lines)) + "\n"


def test_the_page_of_operations_is_what_the_table_says():
    for case in {**CASES, **CORE}:
        if not any(case in forms for forms in FORMS.values()):
            pytest.skip("only when every case ran")
    assert PAGE.read_text() == page(), "docs/operations.md is stale: run python tests/test_operations.py"


if __name__ == "__main__":
    for name in (*CASES, *CORE):
        (test_operation if name in CASES else test_core_operation)(name)
    PAGE.write_text(page())

"""ATen to MIL: one table, one function for each operation.

:func:`lower` walks a graph and calls, for each node, the function that :func:`lowers` filed under the operation's name.
An operation that is not in the table is refused by name, with the module it came from.
"""

from . import (  # noqa: F401 - they fill the table
    elementwise,
    groups,
    images,
    indices,
    logic,
    norms,
    products,
    reductions,
    shapes,
    states,
)
from .context import Context, LoweringError, Value
from .table import TABLE, lower

__all__ = ["TABLE", "Context", "LoweringError", "Value", "lower"]

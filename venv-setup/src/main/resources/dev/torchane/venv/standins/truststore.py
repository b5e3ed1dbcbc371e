"""Stands in for the package truststore, whose import refuses GraalPy: the standard library's context, no system store.

httpcore2 imports it at the top and uses only ``SSLContext``; torch-ane never goes online from Python.
"""

from ssl import SSLContext

__all__ = ["SSLContext"]

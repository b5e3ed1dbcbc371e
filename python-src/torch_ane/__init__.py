"""PyTorch models for the Apple Neural Engine: passes, export and lowering to MIL.

This is the half of torch-ane that runs Python: inside GraalPy, called by Java, or on CPython for development. It turns
a module into a program and hands it to sinks; it runs nothing on any device.

``passes``    what prepares a model for a target
``export``    a module's graph, checked against the module
``lowering``  a graph's operations in MIL
``llm``       causal language models as prefill and decode functions over KV states
``host``      what Java calls
"""

__version__ = "0.1.0"

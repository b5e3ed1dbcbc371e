#!/bin/bash
# safetensors 0.8.0 for GraalPy. About two minutes.
source "$(dirname "$0")/common.sh"
pyo3_wheel safetensors 0.8.0 fabaf3e0f18a6618d9b36560682562157f77c2b71fcffc7b432be2baed9d753d libsafetensors_rust.so _safetensors_rust LICENSE

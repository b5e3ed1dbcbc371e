#!/bin/bash
# tokenizers 0.23.3 for GraalPy. About six minutes.
source "$(dirname "$0")/common.sh"
pyo3_wheel tokenizers 0.23.3 cded33237c77caeef62944d32aa9a7ef42bdce2b3497e18d137e072a8c4be438 libtokenizers.so tokenizers tokenizers/LICENSE

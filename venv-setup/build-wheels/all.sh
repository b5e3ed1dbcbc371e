#!/bin/bash
# Rebuilds every wheel of the wheelhouse. About forty minutes on two processors, most of them for torch.
set -euo pipefail
cd "$(dirname "$0")"
for wheel in pyyaml regex safetensors tokenizers numpy torch; do "./$wheel.sh"; done
echo "now run ../relock.sh: the lock file names the wheels by hash" >&2

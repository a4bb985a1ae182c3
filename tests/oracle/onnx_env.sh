#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# onnx_env.sh FOLDER: a virtual environment FOLDER/env with onnx and onnxruntime from PyPI, which sees
# Debian's PyTorch and NumPy. For tests; does nothing when it is there, and leaves nothing where it fails.
set -euo pipefail

folder=$1
[[ -f $folder/ready ]] && exit 0
mkdir -p "$(dirname "$folder")"
new=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$new"' EXIT

/usr/bin/python3 -m venv --system-site-packages "$new/env"
# Debian's PyTorch is built for NumPy 1.
"$new/env/bin/python" -m pip --quiet --disable-pip-version-check --retries 1 --timeout 20 \
  install onnx onnxruntime 'numpy<2'
touch "$new/ready"
rm -rf "$folder"
mv "$new" "$folder"

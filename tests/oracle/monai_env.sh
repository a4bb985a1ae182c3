#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# monai_env.sh FOLDER: a virtual environment FOLDER/env with MONAI from PyPI, without its
# dependencies, which sees Debian's PyTorch. For tests; does nothing when it is there, and leaves
# nothing where it fails.
set -euo pipefail

folder=$1
[[ -f $folder/complete ]] && exit 0
mkdir -p "$(dirname "$folder")"
new=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$new"' EXIT

/usr/bin/python3 -m venv --system-site-packages "$new/env"
# 1.4 is the first that has the loss, and runs with the PyTorch of Debian 12.
"$new/env/bin/python" -m pip --quiet --disable-pip-version-check --retries 1 --timeout 20 \
  install --no-deps monai==1.4.0
"$new/env/bin/python" -c 'from monai.losses import NACLLoss'
touch "$new/complete"
rm -rf "$folder"
mv "$new" "$folder"

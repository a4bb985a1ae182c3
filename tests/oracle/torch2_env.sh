#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch2_env.sh FOLDER: a virtual environment FOLDER/env with a PyTorch that compiles, and nnU-Net's trainer, from PyPI.
# For long tests; does nothing when it is there, and leaves nothing where it fails. About 6 GB, most of them for GPUs.
set -euo pipefail

folder=$1
[[ -f $folder/complete ]] && exit 0
mkdir -p "$(dirname "$folder")"
new=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$new"' EXIT

/usr/bin/python3 -m venv "$new/env"
"$new/env/bin/python" -m pip --quiet --disable-pip-version-check --retries 1 --timeout 60 \
  install 'torch==2.5.1' 'nnunetv2==2.8.*'
"$new/env/bin/python" -c 'from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer'
touch "$new/complete"
rm -rf "$folder"
mv "$new" "$folder"
